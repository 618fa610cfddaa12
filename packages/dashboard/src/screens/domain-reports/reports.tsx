import type { GetDomainReportsData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatDate, formatNumber, formatShare } from "../../format.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { DayChart } from "../../parts/day-chart.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { navigate, type Params, query } from "../../router.ts";
import { getClient } from "../../session.ts";
import { DomainTabs } from "../domains/tabs.tsx";
import { NoReports, ReportsAddress } from "./no-reports.tsx";
import { toReports } from "./path.ts";
import { ALIGNMENTS, Sources } from "./sources.tsx";
import { Upload } from "./upload.tsx";
import "../domains/domains.css";
import "./reports.css";
import { StackedBar } from "../../parts/stacked-bar.tsx";

export type Reports = GetDomainReportsData;

const SPANS = ["7", "30", "90", "400"] as const;
const DEFAULT_SPAN = "30";

const readSpan = (): string =>
  SPANS.find((days) => days === query.value.get("days")) ?? DEFAULT_SPAN;

export const DomainReports = ({ params }: { readonly params: Params }) => {
  const domain = params["domain"] ?? "";
  const days = readSpan();
  const offset = query.value.get("offset") ?? undefined;
  const to = query.value.get("to") ?? undefined;
  const load = useLoad(
    (signal) =>
      getClient().getDomainReports(
        {
          domain,
          days: Number(days),
          ...(to !== undefined && { to }),
          ...(offset !== undefined && { offset }),
        },
        { signal },
      ),
    [domain, days, to, offset],
  );
  return (
    <Screen
      title={`${domain}: reports`}
      lead="Who sends as this domain, and how much of it is aligned."
      actions={<SpanChoice domain={domain} days={days} to={to} />}
    >
      <DomainTabs domain={domain} />
      <Loaded load={load} what="the reports" as="bars">
        {(reports) => (
          <>
            {reports.dmarc.reports + reports.tls.reports === 0 ? (
              <NoReports reports={reports} days={days} />
            ) : (
              <View reports={reports} days={days} to={to} isPaged={offset !== undefined} />
            )}
            <ReportFaults reports={reports} />
          </>
        )}
      </Loaded>
      <Upload domain={domain} onStored={load.reload} />
    </Screen>
  );
};

type SpanProps = {
  readonly domain: string;
  readonly days: string;
  readonly to: string | undefined;
};

const SpanChoice = ({ domain, days, to }: SpanProps) => (
  <div class="span-choice">
    <label for="days">Show</label>
    <select
      id="days"
      value={days}
      onChange={({ currentTarget: { value } }) =>
        navigate(toReports({ domain, days: value, to }), { replace: true })
      }
    >
      {SPANS.map((one) => (
        <option key={one} value={one}>
          {to === undefined ? "the last" : "the"} {one} days
        </option>
      ))}
    </select>
    {to !== undefined && (
      <>
        until {formatDate(to)}
        <a href={toHref(toReports({ domain, days }))}>Until today</a>
      </>
    )}
  </div>
);

type ViewProps = Omit<SpanProps, "domain"> & {
  readonly reports: Reports;
  readonly isPaged: boolean;
};

const View = ({ reports, days, to, isPaged }: ViewProps) => {
  const { domain, next_offset: next } = reports;
  const toPage = (offset: string) => toHref(toReports({ domain, days, to, offset }));
  return (
    <div class="panels">
      <Summary reports={reports} days={days} />
      <DaysPanel reports={reports} />
      <Sources
        reports={reports}
        next={next === undefined ? undefined : toPage(next)}
        isPaged={isPaged}
      />
      <TlsPanel tls={reports.tls} />
    </div>
  );
};

const Summary = ({
  reports: { domain, from, stored, dmarc, tls, reporters, truncated, reports_address: address },
  days,
}: Pick<ViewProps, "reports" | "days">) => (
  <section class="panel main" aria-labelledby="summary">
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
        ` ${formatCount(dmarc.unauthenticated_reports, "DMARC report")} arrived in mail that did not pass DMARC. Any host may have sent them: no event and no stricter policy depends on them.`}
      {truncated && " There are more than 5,000 reports: the oldest are not counted."}
      {stored !== undefined && stored.from < from && (
        <>
          {" "}
          <a href={toHref(toReports({ domain, days, to: toDayBefore(from) }))}>Earlier reports</a>{" "}
          go back to {formatDate(stored.from)}.
        </>
      )}
    </p>
    {address !== undefined && <ReportsAddress address={address} />}
  </section>
);

const toDayBefore = (day: string): string =>
  new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);

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
  <section class="panel" aria-labelledby="days-chart">
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

/** The faults of reports. For reports that came by mail, this is the only response. */
const ReportFaults = ({
  reports: { notes, unreadable },
}: {
  readonly reports: Pick<GetDomainReportsData, "notes" | "unreadable">;
}) =>
  notes.length + unreadable.length > 0 && (
    <section class="panel wide" aria-labelledby="report-faults">
      <h2 id="report-faults">Faults in reports</h2>
      <ul>
        {unreadable.map(({ day, mails, from, field, message }) => (
          <li key={day}>
            {day}: {formatCount(mails, "mail")} to your address for reports could not be read and
            are not counted. The last one{from !== undefined && `, from ${from}`}: {field} {message}
            .
          </li>
        ))}
        {notes.map(({ day, reporter, report_id: id, field, message }) => (
          <li key={`${id} ${field} ${message}`}>
            {day}, {reporter}: {field} {message}. The report is still counted.
          </li>
        ))}
      </ul>
    </section>
  );

type Tls = GetDomainReportsData["tls"];

const POLICIES: Readonly<Record<Tls["policies"][number]["policy"], string>> = {
  sts: "MTA-STS",
  tlsa: "DANE",
  "no-policy-found": "Without a policy",
};

const TlsPanel = ({ tls }: { readonly tls: Tls }) => (
  <section class="panel wide" aria-labelledby="tls">
    <h2 id="tls">Mail to this domain over TLS</h2>
    {tls.reports === 0 ? (
      <p class="soft">
        No TLS reports in this period. The record at <code>_smtp._tls</code> requests them.
      </p>
    ) : (
      <>
        <StackedBar
          parts={[
            { name: "Succeeded", value: tls.succeeded, tone: "is-valid" },
            { name: "Failed", value: tls.failed, tone: "is-invalid" },
          ]}
          total={tls.succeeded + tls.failed}
          label="Sessions over TLS"
        />
        <ul>
          {tls.policies.map(({ policy, succeeded, failed, failures }) => (
            <li key={policy}>
              {POLICIES[policy]}: {formatCount(succeeded, "session")} succeeded, {failed} failed
              {failures.length > 0 &&
                ` (${failures.map(({ type, sessions }) => `${type}: ${sessions}`).join(", ")})`}
              .
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
);
