import type { VerificationResult } from "@mailproof/api/schema/verification";
import type { Status } from "@mailproof/core/verify/result";
import { toSendAdvice } from "@mailproof/core/verify/send-advice";
import type { ResultSummary } from "./result-summary.ts";
import {
  type CsvList,
  formatCsvTable,
  formatSpreadsheetTable,
  type ListResult,
  type Pieces,
  toResultTable,
} from "./result-table.ts";
import { type Paint, replaceControls, type Style } from "./terminal.ts";

type Evidence = NonNullable<VerificationResult["evidence"]>;

const formatEvidence = (evidence: Evidence, paint: Paint): string => {
  const { dns, mail_host, ip, transcript, rule, reply, catch_all, bounced_at, score } = evidence;
  const host = mail_host === null ? [] : [`${mail_host}${ip === null ? "" : ` (${ip})`}`];
  const rows: readonly Row[] = [
    ...withTitle("DNS", dns.map(formatAnswer)),
    ...withTitle("Mail host", host),
    ...withTitle("SMTP", transcript.flatMap(toLines)),
    ...withTitle("Rule", rule === null ? [] : [rule]),
    ...withTitle("Reply", reply === null ? [] : [formatReply(reply)]),
    ...withTitle("Catch-all", catch_all === "not_tested" ? ["not tested"] : [catch_all]),
    ...withTitle("Bounced", typeof bounced_at === "string" ? [bounced_at] : []),
    ...withTitle("Score", [formatSum(score)]),
  ];
  const lines = rows.map(
    ([title, text]) => `  ${paint(title.padEnd(TITLE_COLUMNS), "dim")}${replaceControls(text)}\n`,
  );
  return `${lines.join("")}\n`;
};

type Row = readonly [title: string, text: string];

const TITLE_COLUMNS = 11;

const withTitle = (title: string, lines: readonly string[]): readonly Row[] =>
  lines.map((line, at) => [at === 0 ? title : "", line]);

const formatAnswer = ({ type, name, kind, records, count }: Evidence["dns"][number]): string => {
  if (kind !== "ok") return `${type} ${name}: ${kind}`;
  const more = count > records.length ? ` and ${count - records.length} more` : "";
  return `${type} ${name}: ${records.map(formatRecord).join(", ")}${more}`;
};

const formatRecord = (record: unknown): string =>
  typeof record === "object" && record !== null
    ? Object.values(record).flat().join(" ")
    : String(record);

const MARKERS = { client: ">", server: "<", wire: "!" } as const;

const toLines = ({ ms, who, text }: Evidence["transcript"][number]): readonly string[] =>
  text.split("\n").map((line, at) => {
    const time = at === 0 ? `${ms} ms` : "";
    return `${time.padStart(8)} ${MARKERS[who]} ${line}`;
  });

const formatReply = ({ code, enhanced, text }: NonNullable<Evidence["reply"]>): string =>
  [code, ...(enhanced ? [enhanced] : []), text.replaceAll("\n", " ")].join(" ");

const formatSum = (parts: Evidence["score"]): string =>
  parts
    .map(({ part, points }, at) => {
      const sign = points < 0 ? "- " : at === 0 ? "" : "+ ";
      return `${sign}${Math.abs(points)} (${part})`;
    })
    .join(" ");

export type ResultFormat = (results: AsyncIterable<ListResult>) => Pieces;

export const formatJsonLines: ResultFormat = async function* (results) {
  for await (const { result } of results) yield formatJsonLine(result);
};

export const formatJsonLine = (result: { readonly status: string }): string =>
  `${JSON.stringify({ ...result, send: toSendAdvice(result.status) })}\n`;

export const createCsvFormat =
  (list: CsvList): ResultFormat =>
  (results) =>
    formatCsvTable(toResultTable(list, results));

export const createSpreadsheetFormat =
  (list: CsvList): ResultFormat =>
  (results) =>
    formatSpreadsheetTable(toResultTable(list, results));

export async function* countResults(
  results: AsyncIterable<ListResult>,
  summary: ResultSummary,
): AsyncGenerator<ListResult> {
  for await (const one of results) {
    summary.add(one.result);
    yield one;
  }
}

const STYLES: Readonly<Record<Status, Style>> = {
  valid: "green",
  catch_all: "yellow",
  role: "yellow",
  risky: "yellow",
  unknown: "yellow",
  disposable: "red",
  invalid: "red",
  spam_trap: "red",
};

export const createTextFormat = (paint: Paint): ResultFormat =>
  async function* (results) {
    for await (const { result } of results) yield formatTextLine(result, paint);
  };

const formatTextLine = (
  { email, status, quality_score, reason, sub_status, ai, evidence }: ListResult["result"],
  paint: Paint,
): string => {
  const verdict = paint(status.padEnd(10), STYLES[status]);
  const reasonText = sub_status === null ? reason : `${reason} (${sub_status})`;
  const meant = ai?.typo_suggestion ? `, meant ${ai.typo_suggestion}?` : "";
  const line = `${verdict} ${String(quality_score).padStart(3)}  ${replaceControls(email)}  ${reasonText}${replaceControls(meant)}\n`;
  return evidence === undefined ? line : `${line}${formatEvidence(evidence, paint)}`;
};
