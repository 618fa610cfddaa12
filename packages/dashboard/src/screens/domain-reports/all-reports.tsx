import { toHref } from "../../base.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { query } from "../../router.ts";
import { getClient } from "../../session.ts";
import { DomainList, loadLatest } from "../domains/domain-list.tsx";
import { Upload } from "./upload.tsx";
import "../domains/domains.css";
import "./reports.css";
import type { ListDomainsData } from "@mailproof/client";
import { formatChange, formatDate, formatNumber, formatShare } from "../../format.ts";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { toReports } from "./path.ts";

const loadAll = async (signal: AbortSignal, offset: string | undefined) => {
  const [reported, checks] = await Promise.all([
    getClient().listDomains({ ...(offset !== undefined && { offset }) }, { signal }),
    loadLatest(signal),
  ]);
  const names = new Set(reported.domains.map(({ domain }) => domain));
  return { reported, checks: checks.filter(({ domain }) => !names.has(domain)) };
};

export const AllReports = () => {
  const offset = query.value.get("offset") ?? undefined;
  const load = useLoad((signal) => loadAll(signal, offset), [offset]);
  return (
    <Screen
      title="DMARC reports"
      lead="What receivers report about your domains: who sends as them, and how much of it is aligned."
    >
      <Loaded load={load} what="the domains" as="rows">
        {({ reported, checks }) => (
          <>
            {reported.domains.length > 0 && <ReportedDomains data={reported} />}
            {reported.domains.length + checks.length === 0 && (
              <Empty
                shape="bars"
                action={
                  <a class="button" href={toHref("domains")}>
                    Check a domain
                  </a>
                }
              >
                Upload a report, or check a domain to see how to receive its reports automatically.
              </Empty>
            )}
            {/* A domain of another page may have reports, so only a complete list shows which have none. */}
            {checks.length > 0 && offset === undefined && !reported.has_more && (
              <section class="panel" aria-labelledby="unreported">
                <h2 id="unreported">Checked domains without reports</h2>
                <DomainList checks={checks} tab="/reports" />
              </section>
            )}
          </>
        )}
      </Loaded>
      <Upload onStored={load.reload} />
    </Screen>
  );
};

type Domain = ListDomainsData["domains"][number];

const DAY_MS = 86_400_000;

/** Draws the messages of each day, and above them the share that is not aligned. */
const DayBars = ({ days, from, to }: Pick<Domain, "days"> & { from: string; to: string }) => {
  const toX = (day: string): number => (Date.parse(day) - Date.parse(from)) / DAY_MS;
  const most = Math.max(1, ...days.map(({ messages }) => messages));
  return (
    <svg
      class="day-bars"
      viewBox={`0 0 ${toX(to) + 1} ${most}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {days.map(({ day, messages, aligned }) => (
        <g key={day}>
          <rect class="is-valid" x={toX(day)} y={most - aligned} width="0.8" height={aligned} />
          <rect
            class="is-invalid"
            x={toX(day)}
            y={most - messages}
            width="0.8"
            height={messages - aligned}
          />
        </g>
      ))}
    </svg>
  );
};

/** Compares the share aligned with the days before, in points; without mail in both, there is nothing to compare. */
const toTrend = ({ aligned_share: share, before }: Domain): string => {
  if (share === undefined || before.aligned_share === undefined) return "–";
  const tenths = Math.round((share - before.aligned_share) * 1_000) / 10;
  return tenths === 0 ? "unchanged" : `${formatChange(tenths)} points`;
};

const createColumns = ({ from, to }: ListDomainsData): readonly Column<Domain>[] => [
  {
    title: "Domain",
    isHeader: true,
    cell: ({ domain, domain_unicode: name, last_day: last }) => (
      <a
        href={toHref(
          toReports({ domain, to: last !== undefined && last < from ? last : undefined }),
        )}
      >
        {name}
      </a>
    ),
  },
  { title: "Messages", isNumber: true, cell: ({ messages }) => formatNumber(messages) },
  {
    title: "Aligned",
    isNumber: true,
    cell: ({ aligned_share: share }) => (share === undefined ? "–" : formatShare(share)),
  },
  { title: "Last 30 days", cell: ({ days }) => <DayBars days={days} from={from} to={to} /> },
  { title: "Against the 30 days before", isNumber: true, cell: toTrend },
  {
    title: "Newest report",
    cell: ({ last_day: last }) => (last === undefined ? "–" : formatDate(last)),
  },
];

const ReportedDomains = ({ data }: { readonly data: ListDomainsData }) => (
  <section class="panel main" aria-labelledby="reported">
    <h2 id="reported">Domains with reports</h2>
    <RowTable
      label="Domains with reports"
      columns={createColumns(data)}
      rows={data.domains}
      getKey={({ domain }) => domain}
    />
    {data.next_offset !== undefined && (
      <p>
        <a href={toHref(`reports?${new URLSearchParams({ offset: data.next_offset })}`)}>
          More domains
        </a>
      </p>
    )}
  </section>
);
