import type { GetDomainReportsData } from "@mailproof/client/types";
import { formatCount } from "./progress.ts";
import { createPage, type Page, type ReportLayout } from "./show-report.ts";
import { replaceControls, wrapText } from "./terminal.ts";

const SOURCES_SHOWN = 20;

export const countOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

export const showReports = (reports: GetDomainReportsData, layout: ReportLayout): string => {
  const page = createPage(layout);
  const { dmarc, tls, from, to, truncated, reports_address: address } = reports;
  const head = `${countOf(dmarc.reports, "DMARC report")}, ${countOf(tls.reports, "TLS report")}, ${from} to ${to}${truncated ? "; older ones are not counted" : ""}`;
  return page.print([
    "",
    page.paint("Reports of receivers", "bold"),
    ...page.wrap(head, "dim"),
    ...formatDmarc(dmarc, page),
    ...formatTls(tls, page),
    ...formatFaults(reports, page),
    ...(address === undefined ? [] : ["", `By mail: rua=mailto:${address}`]),
    "",
  ]);
};

type Dmarc = GetDomainReportsData["dmarc"];

const formatDmarc = (dmarc: Dmarc, page: Page): readonly string[] => {
  if (dmarc.aligned_share === undefined) return [];
  const sum = `${formatShare(dmarc.aligned_share)} of ${countOf(dmarc.messages, "message")} aligned (SPF ${dmarc.spf_aligned}, DKIM ${dmarc.dkim_aligned})`;
  const { unauthenticated_reports: others } = dmarc;
  const note = `${countOf(others, "DMARC report")} arrived in mail that did not pass DMARC. Any host may have sent them: no event and no stricter policy depends on them.`;
  const more = dmarc.source_count - Math.min(SOURCES_SHOWN, dmarc.sources.length);
  return [
    ...page.wrap(sum),
    ...(others > 0 ? page.wrap(note) : []),
    ...dmarc.sources.slice(0, SOURCES_SHOWN).flatMap((source) => {
      const { ip = "other addresses", host_name: host, provider, messages, advice } = source;
      const name = [ip, host, provider].filter((part) => part !== undefined).join("  ");
      const share = formatShare(source.aligned_share ?? 0);
      return [
        "",
        ...page.wrap(
          replaceControls(
            `${name}  ${countOf(messages, "message")}, ${share} aligned${source.unauthenticated > 0 ? `, ${source.unauthenticated} in unauthenticated reports` : ""}`,
          ),
          "bold",
        ),
        ...wrapText(replaceControls(advice.text), page.width - 2).map((line) => `  ${line}`),
      ];
    }),
    ...(more > 0 ? ["", page.paint(`${countOf(more, "source")} more: see --json`, "dim")] : []),
  ];
};

const formatShare = (share: number): string => `${Math.floor(share * 1_000) / 10}%`;

const formatTls = (tls: GetDomainReportsData["tls"], page: Page): readonly string[] => {
  if (tls.reports === 0) return [];
  const failures = tls.policies
    .flatMap((policy) => policy.failures)
    .map(({ type, sessions }) => `${type} ${sessions}`);
  const reasons = failures.length === 0 ? "" : `: ${failures.join(", ")}`;
  const text = `TLS: ${countOf(tls.succeeded, "session")} succeeded, ${tls.failed} failed${reasons}`;
  return ["", ...page.wrap(replaceControls(text))];
};

const FAULTS_SHOWN = 5;

const formatFaults = (
  { notes, unreadable }: Pick<GetDomainReportsData, "notes" | "unreadable">,
  page: Page,
): readonly string[] => [
  ...unreadable
    .slice(0, FAULTS_SHOWN)
    .flatMap(({ day, mails, from = "an unknown domain", field, message }) => [
      "",
      ...page.wrap(
        replaceControls(
          `${day}: ${countOf(mails, "mail")} with a report that could not be read. The last, of ${from}: ${field} ${message}.`,
        ),
      ),
    ]),
  ...notes
    .slice(0, FAULTS_SHOWN)
    .flatMap(({ day, reporter, field, message }) => [
      "",
      ...page.wrap(
        replaceControls(
          `Counted, with a fault: the report of ${reporter}, ${day}: ${field} ${message}.`,
        ),
      ),
    ]),
];
