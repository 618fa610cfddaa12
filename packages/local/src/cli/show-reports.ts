import type { GetDomainReportsData } from "@mailproof/client/types";
import { formatCount } from "./progress.ts";
import type { ReportLayout } from "./show-report.ts";
import { replaceControls, wrapText } from "./terminal.ts";

const COLUMNS_MIN = 40;
const COLUMNS_MAX = 100;
const SOURCES_SHOWN = 20;

export const countOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

export const showReports = (
  reports: GetDomainReportsData,
  { columns, paint }: ReportLayout,
): string => {
  const { dmarc, tls, from, to, truncated, reports_address: address } = reports;
  const width = Math.max(COLUMNS_MIN, Math.min(columns, COLUMNS_MAX)) - 2;
  const head = `${countOf(dmarc.reports, "DMARC report")}, ${countOf(tls.reports, "TLS report")}, ${from} to ${to}${truncated ? "; older ones are not counted" : ""}`;
  const lines = [
    "",
    paint("Reports of receivers", "bold"),
    ...wrapText(head, width).map((line) => paint(line, "dim")),
    ...formatDmarc(dmarc, width, paint),
    ...formatTls(tls, width),
    ...formatFaults(reports, width),
    ...(address === undefined ? [] : ["", `By mail: rua=mailto:${address}`]),
    "",
  ];
  return lines.map((line) => (line === "" ? "\n" : `  ${line}\n`)).join("");
};

type Dmarc = GetDomainReportsData["dmarc"];

const formatDmarc = (
  dmarc: Dmarc,
  width: number,
  paint: ReportLayout["paint"],
): readonly string[] => {
  if (dmarc.aligned_share === undefined) return [];
  const sum = `${formatShare(dmarc.aligned_share)} of ${countOf(dmarc.messages, "message")} aligned (SPF ${dmarc.spf_aligned}, DKIM ${dmarc.dkim_aligned})`;
  const { unauthenticated_reports: others } = dmarc;
  const note = `${countOf(others, "DMARC report")} arrived in mail that did not pass DMARC. Any host may have sent them, so no advice is based on them.`;
  const more = dmarc.source_count - Math.min(SOURCES_SHOWN, dmarc.sources.length);
  return [
    ...wrapText(sum, width),
    ...(others > 0 ? wrapText(note, width) : []),
    ...dmarc.sources.slice(0, SOURCES_SHOWN).flatMap((source) => {
      const { ip = "other addresses", host_name: host, provider, messages, advice } = source;
      const name = [ip, host, provider].filter((part) => part !== undefined).join("  ");
      const share = formatShare(source.aligned_share ?? 0);
      return [
        "",
        ...wrapText(
          replaceControls(
            `${name}  ${countOf(messages, "message")}, ${share} aligned${source.unauthenticated > 0 ? `, ${source.unauthenticated} in unauthenticated reports` : ""}`,
          ),
          width,
        ).map((line) => paint(line, "bold")),
        ...wrapText(replaceControls(advice.text), width - 2).map((line) => `  ${line}`),
      ];
    }),
    ...(more > 0 ? ["", paint(`${countOf(more, "source")} more: see --json`, "dim")] : []),
  ];
};

const formatShare = (share: number): string => `${Math.floor(share * 1_000) / 10}%`;

const formatTls = (tls: GetDomainReportsData["tls"], width: number): readonly string[] => {
  if (tls.reports === 0) return [];
  const failures = tls.policies
    .flatMap((policy) => policy.failures)
    .map(({ type, sessions }) => `${type} ${sessions}`);
  const reasons = failures.length === 0 ? "" : `: ${failures.join(", ")}`;
  const text = `TLS: ${countOf(tls.succeeded, "session")} succeeded, ${tls.failed} failed${reasons}`;
  return ["", ...wrapText(replaceControls(text), width)];
};

const FAULTS_SHOWN = 5;

const formatFaults = (
  { notes, unreadable }: Pick<GetDomainReportsData, "notes" | "unreadable">,
  width: number,
): readonly string[] => [
  ...unreadable
    .slice(0, FAULTS_SHOWN)
    .flatMap(({ day, mails, from = "an unknown domain", field, message }) => [
      "",
      ...wrapText(
        replaceControls(
          `${day}: ${countOf(mails, "mail")} with a report that could not be read. The last, of ${from}: ${field} ${message}.`,
        ),
        width,
      ),
    ]),
  ...notes
    .slice(0, FAULTS_SHOWN)
    .flatMap(({ day, reporter, field, message }) => [
      "",
      ...wrapText(
        replaceControls(
          `Counted, with a fault: the report of ${reporter}, ${day}: ${field} ${message}.`,
        ),
        width,
      ),
    ]),
];
