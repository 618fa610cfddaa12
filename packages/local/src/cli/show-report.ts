import { toIssues } from "@mailproof/api/schema/to-check-result";
import type { Grade } from "@mailproof/mail/grade";
import type { Severity } from "@mailproof/mail/issue";
import {
  buildSections,
  type LocalFindings,
  type ReportIssue,
  type ReportResponse,
  type ReportSection,
} from "./report-sections.ts";
import { type Paint, replaceControls, type Style, wrapText } from "./terminal.ts";

type Lines = readonly string[];

export type ReportLayout = { readonly columns: number; readonly paint: Paint };

const COLUMNS_MIN = 40;
/** Longer lines are hard to read, on any screen. */
const COLUMNS_MAX = 100;

export const createPage = ({ columns, paint }: ReportLayout) => {
  const width = Math.max(COLUMNS_MIN, Math.min(columns, COLUMNS_MAX)) - 2;
  return {
    width,
    paint,
    wrap: (text: string, ...styles: readonly Style[]): Lines =>
      wrapText(text, width).map((line) => (styles.length > 0 ? paint(line, ...styles) : line)),
    print: (lines: Lines): string =>
      lines.map((line) => (line === "" ? "\n" : `  ${line}\n`)).join(""),
  };
};

export type Page = ReturnType<typeof createPage>;

/** Prints a report: the grade, the recommendations, then all findings. `local` has the extra findings of this machine. */
export const showReport = (
  report: ReportResponse,
  layout: ReportLayout,
  local?: LocalFindings,
): string => {
  const sections = buildSections(report, local);
  const page = createPage(layout);
  return page.print([
    "",
    ...formatHead(report, sections, page),
    ...formatRecommendations(report, page),
    ...formatRecords(report, page),
    ...formatFlattened(report, page),
    ...sections.flatMap((section) => formatSection(section, page)),
    ...formatSpamAssessment(report, page),
    ...formatHints(local?.hints ?? [], page),
    "",
    ...page.wrap(`Scored by model ${report.model_version}.`, "dim"),
    "",
  ]);
};

const STYLE_OF_GRADE: Readonly<Record<Grade, Style>> = {
  A: "green",
  B: "green",
  C: "yellow",
  D: "yellow",
  F: "red",
};

const CAP_TEXTS: Readonly<Record<string, string>> = {
  no_domain: "the domain does not exist",
  no_spf_no_dkim: "there is neither SPF nor DKIM",
  listed_gravely: "it is on a critical blocklist",
  no_valid_mx: "it cannot receive mail",
  spf_broken: "its SPF record is broken",
  spf_open: "its SPF record allows any server to send",
  no_dmarc: "there is no DMARC record",
  dmarc_none: "DMARC only monitors",
  dkim_unknown: "no DKIM key was found",
};

const formatHead = (
  report: ReportResponse,
  sections: readonly ReportSection[],
  page: Page,
): Lines => {
  const { domain, sending_ip: sendingIp, score, grade, score_parts } = report;
  const { capped_by: cappedBy, before_cap: uncapped } = score_parts;
  const style = STYLE_OF_GRADE[grade];
  const from = sendingIp === null ? "" : `, sending from ${sendingIp}`;
  const cap =
    cappedBy === undefined
      ? []
      : page.wrap(
          `${uncapped}, but no more than ${score} while ${CAP_TEXTS[cappedBy] ?? cappedBy}.`,
        );
  return [
    `${page.paint(` ${grade} `, "bold", "reversed", style)} ${page.paint(`${score} of 100`, "bold")}`,
    ...page.wrap(`${domain}${from}`, "bold"),
    page.paint(formatBar(score, page.width), style),
    ...cap,
    ...formatUnknownSections(report, sections, page),
  ];
};

/** Lists the unknown parts, so that a partial score does not look like a complete score. */
const formatUnknownSections = (
  report: ReportResponse,
  sections: readonly ReportSection[],
  page: Page,
): Lines => {
  const open = sections.filter(({ score }) => score === undefined);
  if (open.length === 0) return [];
  const titles = open.map(({ title }) => title).join(", ");
  const low =
    report.confidence === "low" ? " Low confidence: they are more than half of its weight." : "";
  return page.wrap(`No result, left out of the score: ${titles}.${low}`);
};

const formatBar = (score: number, width: number): string =>
  "━".repeat(Math.round((score / 100) * width)).padEnd(width, "╌");

const formatRecommendations = ({ recommendations }: ReportResponse, page: Page): Lines => {
  const worth = recommendations.filter(({ severity }) => severity !== "info");
  if (worth.length === 0) return ["", page.paint("Nothing needs fixing.", "green")];
  const rows = worth.flatMap(({ severity, points_regained: pointsRegained, text }, at) => {
    const gain = (pointsRegained > 0 ? `+${pointsRegained}` : "").padStart(4);
    const lead = `${String(at + 1).padStart(2)}. ${page.paint(gain, "bold")} ${formatMark(severity, page)} `;
    return formatHanging(lead, replaceControls(text), page, 11);
  });
  return ["", page.paint("What to fix first", "bold"), ...rows];
};

type Proposal = Pick<
  ReportResponse["recommendations"][number],
  "record" | "replaces" | "file" | "note"
>;

/** Formats the records to publish, each once. Their values are never wrapped, so that people can copy them. */
const formatRecords = (report: ReportResponse, page: Page): Lines => {
  const { recommendations, after_records: after } = report;
  const seen = new Set<string>();
  const rows = recommendations.flatMap((one) => {
    if (!one.record) return [];
    const key = `${one.record.type} ${one.record.name} ${one.record.value}`;
    if (seen.has(key)) return [];
    seen.add(key);
    return formatProposal(one, page);
  });
  if (rows.length === 0) return [];
  const gain = after ? ` The score is then at least ${after.score}, grade ${after.grade}.` : "";
  return [
    "",
    page.paint("Records to publish", "bold"),
    ...page.wrap(`Fill in what is between < and >.${gain}`, "dim"),
    ...rows,
  ];
};

const formatFlattened = ({ flattened_spf: flattened }: ReportResponse, page: Page): Lines => {
  if (!flattened) return [];
  const { includes, lookups, bytes } = flattened;
  const names = includes.map(({ include, address_blocks: n }) => `${include} (${n})`).join(", ");
  const cost = `Address blocks instead of ${names}: ${lookups} DNS look-ups, ${bytes} bytes. When one of these services changes its addresses, update this record, or its mail fails SPF.`;
  return [
    "",
    page.paint("SPF record with fewer look-ups", "bold"),
    ...page.wrap(replaceControls(cost), "dim"),
    ...formatProposal(flattened, page),
  ];
};

const formatProposal = ({ record, replaces = [], file, note }: Proposal, page: Page): Lines => {
  if (!record) return [];
  const { type, name, value, strings = [] } = record;
  const split =
    strings.length > 0
      ? `Longer than 255 characters: one TXT record of ${strings.length} strings. Most DNS providers split it automatically.`
      : undefined;
  const notes = [split, note].flatMap((text) => text ?? []);
  const instead = replaces.length === 0 ? "" : ", instead of:";
  return [
    "",
    ...page.wrap(`${type} at ${replaceControls(name)}${instead}`, "bold"),
    ...replaces.map(
      (one) =>
        `- ${replaceControls(one.name === name ? one.value : `${one.value} (at ${one.name})`)}`,
    ),
    replaceControls(value),
    ...notes.flatMap((text) => page.wrap(text, "dim")),
    ...(file
      ? [`File at ${file.url}:`, ...file.content.trimEnd().split("\r\n").map(replaceControls)]
      : []),
  ];
};

/** Formats text after a lead of `columns` width; colour codes may make the lead longer than it looks. */
const formatHanging = (lead: string, text: string, { width }: Page, columns: number): Lines =>
  wrapText(text, width - columns).map(
    (line, at) => `${at === 0 ? lead : " ".repeat(columns)}${line}`,
  );

const MARKS: Readonly<Record<Severity, readonly [sign: string, style: Style]>> = {
  critical: ["✗", "red"],
  high: ["✗", "red"],
  medium: ["!", "yellow"],
  low: ["!", "dim"],
  info: ["i", "dim"],
};

const formatMark = (severity: Severity, { paint }: Page): string => {
  const [sign, style] = MARKS[severity];
  return paint(sign, style);
};

const STATUS_TEXTS: Readonly<Record<string, readonly [words: string, style: Style]>> = {
  pass: ["fine", "green"],
  clear: ["clear", "green"],
  warn: ["could be better", "yellow"],
  unknown: ["not found", "yellow"],
  missing: ["missing", "red"],
  listed: ["listed", "red"],
  fail: ["faulty", "red"],
  error: ["not known", "dim"],
};

const TITLE_COLUMNS = 17;

const formatSection = (section: ReportSection, page: Page): Lines => {
  const { title, score, status, details, issues } = section;
  const [words, style] = STATUS_TEXTS[status] ?? [status, "dim"];
  const points = score === undefined ? "  –" : String(score).padStart(3);
  return [
    "",
    `${page.paint(title.padEnd(TITLE_COLUMNS), "bold")}${points}  ${page.paint(words, style)}`,
    ...details.flatMap((detail) =>
      wrapText(replaceControls(detail), page.width - 4).map(
        (line) => `    ${page.paint(line, "dim")}`,
      ),
    ),
    ...issues.flatMap((issue) => formatIssue(issue, page)),
  ];
};

const formatIssue = (
  { severity, message, cost_points: costPoints }: ReportIssue,
  page: Page,
): Lines => {
  const cost = costPoints > 0 ? ` (-${costPoints})` : "";
  return formatHanging(
    `  ${formatMark(severity, page)} `,
    `${replaceControls(message)}${cost}`,
    page,
    4,
  );
};

const STYLE_OF_LIKELIHOOD: Readonly<Record<string, Style>> = {
  low: "green",
  medium: "yellow",
  high: "red",
};

const formatSpamAssessment = ({ spam_assessment }: ReportResponse, page: Page): Lines => {
  const { spam_likelihood: likelihood, score, factors } = spam_assessment;
  const likelihoodText = page.paint(likelihood, STYLE_OF_LIKELIHOOD[likelihood] ?? "dim");
  return [
    "",
    `${page.paint("To a spam filter".padEnd(TITLE_COLUMNS), "bold")}${String(score).padStart(3)}  ${likelihoodText} suspicion`,
    ...factors.flatMap(({ impact, points, description }) => {
      const sign = impact === "positive" ? page.paint("✓", "green") : page.paint("✗", "red");
      const cost = points > 0 ? ` (+${points})` : "";
      return formatHanging(`  ${sign} `, `${replaceControls(description)}${cost}`, page, 4);
    }),
  ];
};

const formatHints = (hints: LocalFindings["hints"], page: Page): Lines =>
  hints.length === 0
    ? []
    : [
        "",
        page.paint("Optional improvements", "bold"),
        ...toIssues(hints).flatMap((hint) => formatIssue(hint, page)),
      ];
