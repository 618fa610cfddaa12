import type { GetDomainReportsData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatNumber, formatShare } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { DayChart } from "../../parts/day-chart.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { navigate, type Params, query } from "../../router.ts";
import { getClient } from "../../session.ts";
import { DomainTabs } from "../domains/tabs.tsx";
import { NoReports, ReportsAddress } from "./no-reports.tsx";
import { ReportFaults } from "./report-faults.tsx";
import { ALIGNMENTS, Services, Sources } from "./sources.tsx";
import { TlsPanel } from "./tls.tsx";
import { Upload } from "./upload.tsx";
import "../domains/domains.css";
import "./reports.css";

export type Reports = GetDomainReportsData;

const SPANS = ["7", "30", "90"] as const;
const DEFAULT_SPAN = "30";

const readSpan = (): string =>
  SPANS.find((days) => days === query.value.get("days")) ?? DEFAULT_SPAN;

export const DomainReports = ({ params }: { readonly params: Params }) => {
  const domain = params["domain"] ?? "";
  const days = readSpan();
  const offset = query.value.get("offset") ?? undefined;
  const load = useLoad(
    (signal) =>
      getClient().getDomainReports(
        { domain, days: Number(days), ...(offset !== undefined && { offset }) },
        { signal },
      ),
    [domain, days, offset],
  );
  return (
    <Screen
      title={`${domain}: reports`}
      lead="What receivers reported: who sends as this domain, and how much of it is aligned."
    >
      <DomainTabs domain={domain} />
      <SpanChoice domain={domain} days={days} />
      <Loaded load={load} what="the reports" as="bars">
        {(reports) => (
          <>
            {reports.dmarc.reports + reports.tls.reports === 0 ? (
              <NoReports domain={domain} days={days} address={reports.reports_address} />
            ) : (
              <View reports={reports} days={days} />
            )}
            <ReportFaults reports={reports} />
          </>
        )}
      </Loaded>
      <Upload domain={domain} onStored={load.reload} />
    </Screen>
  );
};

const SpanChoice = ({ domain, days }: { readonly domain: string; readonly days: string }) => (
  <p class="span-choice">
    <label for="days">Show</label>
    <select
      id="days"
      value={days}
      onChange={({ currentTarget: { value } }) =>
        navigate(`domains/${encodeURIComponent(domain)}/reports?days=${value}`, { replace: true })
      }
    >
      {SPANS.map((one) => (
        <option key={one} value={one}>
          the last {one} days
        </option>
      ))}
    </select>
  </p>
);

type ViewProps = { readonly reports: Reports; readonly days: string };

const View = ({ reports, days }: ViewProps) => {
  const { domain, dmarc, next_offset: next } = reports;
  const toPage = (offset: string) =>
    toHref(
      `domains/${encodeURIComponent(domain)}/reports?${new URLSearchParams({ days, offset })}`,
    );
  return (
    <div class="panels">
      <Summary reports={reports} />
      <DaysPanel reports={reports} />
      {dmarc.providers.length > 1 && <Services providers={dmarc.providers} />}
      <Sources reports={reports} next={next === undefined ? undefined : toPage(next)} />
      <TlsPanel tls={reports.tls} />
    </div>
  );
};

const Summary = ({
  reports: { dmarc, tls, reporters, truncated, reports_address: address },
}: {
  readonly reports: Reports;
}) => (
  <section class="panel main wide" aria-labelledby="summary">
    <h2 id="summary">In short</h2>
    {dmarc.aligned_share !== undefined && (
      <p class="figure">
        {formatShare(dmarc.aligned_share)}{" "}
        <small>of {formatCount(dmarc.messages, "message")}</small> <small>aligned</small>
      </p>
    )}
    {dmarc.policy && (
      <p>
        The newest report found the policy <b>p={dmarc.policy.p ?? "?"}</b>
        {dmarc.policy.sp !== undefined && ` (subdomains: ${dmarc.policy.sp})`}
        {dmarc.policy.testing && ", in test mode"}. {toDispositions(dmarc.dispositions)}
      </p>
    )}
    <p class="soft">
      {formatCount(dmarc.reports, "DMARC report")} and {formatCount(tls.reports, "TLS report")},
      from {reporters.map(({ name, reports }) => `${name} (${reports})`).join(", ")}.
      {dmarc.unauthenticated_reports > 0 &&
        ` ${formatCount(dmarc.unauthenticated_reports, "DMARC report")} arrived in mail that did not pass DMARC. Any host may have sent them, so no advice is based on them.`}
      {truncated && " There are more than 5,000 reports: the oldest are not counted."}
    </p>
    {address !== undefined && <ReportsAddress address={address} />}
  </section>
);

const DONE: Readonly<Record<Reports["dmarc"]["dispositions"][number]["disposition"], string>> = {
  none: "delivered as usual",
  pass: "passed",
  quarantine: "treated as suspicious",
  reject: "refused",
  unknown: "not reported",
};

const toDispositions = (dispositions: Reports["dmarc"]["dispositions"]): string =>
  dispositions.length === 0
    ? ""
    : `What receivers did with these messages: ${dispositions
        .map(({ disposition, messages }) => `${formatNumber(messages)} ${DONE[disposition]}`)
        .join(", ")}.`;

const DaysPanel = ({ reports: { domain, from, to, dmarc } }: { readonly reports: Reports }) => (
  <section class="panel wide" aria-labelledby="days-chart">
    <div class="heading">
      <h2 id="days-chart">Messages by day</h2>
      <CsvButton
        of="Messages per day"
        fileName={`reports-${domain}-${from}-${to}`}
        getTable={() => ({
          header: ["day", "aligned", "forwarded", "unaligned"],
          rows: dmarc.days.map((one) => [one.day, ...ALIGNMENTS.map(({ count }) => count(one))]),
        })}
      />
    </div>
    <DayChart
      from={from}
      to={to}
      values={
        new Map(dmarc.days.map((one) => [one.day, ALIGNMENTS.map(({ count }) => count(one))]))
      }
      series={ALIGNMENTS}
      sum={formatCount(dmarc.messages, "message")}
      what="Messages"
    />
  </section>
);
