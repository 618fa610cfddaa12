import type { GetDomainReportsData } from "@mailproof/client";
import { formatCount, formatDay, formatNumber, formatShare } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";

type Reports = GetDomainReportsData;
type Sender = Reports["dmarc"]["senders"][number];
type Source = Reports["dmarc"]["sources"][number];

const toTitle = (provider: string | undefined): string =>
  provider?.replaceAll("_", " ") ?? "other senders";

const SMALLEST = "The smallest sources";

const ALIGNED = {
  title: "Aligned",
  isNumber: true,
  cell: ({ aligned_share: share }: Pick<Source, "aligned_share">) =>
    share === undefined ? "–" : formatShare(share),
} as const;

type Sums = Pick<Source, "messages" | "aligned" | "forwarded">;

/** A receiver's findings about mail, from the bottom of a bar to its top and from its left to its right. */
export const ALIGNMENTS = [
  { name: "Aligned", tone: "is-valid", count: ({ aligned }: Sums) => aligned },
  { name: "Forwarded", tone: "is-unknown", count: ({ forwarded }: Sums) => forwarded },
  {
    name: "Unaligned",
    tone: "is-invalid",
    count: ({ messages, aligned, forwarded }: Sums) => messages - aligned - forwarded,
  },
] as const;

/** Shows the number, and a bar for its share of the largest number, in the colours of the findings. */
const createVolumeColumn = (all: readonly Sums[]): Column<Sums> => {
  const most = Math.max(1, ...all.map(({ messages }) => messages));
  return {
    title: "Messages",
    isNumber: true,
    cell: (sums) => {
      let x = 0;
      return (
        <>
          {formatNumber(sums.messages)}
          <svg
            class="alignment"
            viewBox={`0 0 ${most} 1`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            {ALIGNMENTS.map(({ name, tone, count }) => {
              const width = count(sums);
              x += width;
              return <rect key={name} class={tone} x={x - width} width={width} height="1" />;
            })}
          </svg>
        </>
      );
    },
  };
};

/** One line for each sender: its name, its mail, and the one thing to do about it. */
const createSenderColumns = (all: readonly Sender[]): readonly Column<Sender>[] => [
  {
    title: "Sender",
    isHeader: true,
    cell: ({ name, sources }) => (
      <>
        {name ?? SMALLEST}{" "}
        {sources > 1 && <span class="soft">{formatCount(sources, "address", "addresses")}</span>}
      </>
    ),
  },
  createVolumeColumn(all),
  ALIGNED,
  { title: "What to do", cell: ({ advice }) => <AdviceText advice={advice} /> },
];

const SenderTable = ({ senders }: { readonly senders: readonly Sender[] }) => (
  <div class="senders">
    <RowTable
      label="Senders"
      columns={createSenderColumns(senders)}
      rows={senders}
      getKey={({ name, provider }) => `${provider ?? ""} ${name ?? ""}`}
    />
  </div>
);

const toSpan = ({ first_day: first, last_day: last }: Source): string =>
  first === last ? formatDay(first) : `${formatDay(first)} to ${formatDay(last)}`;

/** A source that needs no action is green. Only the owner can judge whether an unknown source is legitimate. */
const NOTHING_TO_DO: readonly Source["advice"]["code"][] = ["aligned", "forwarded"];

const AdviceText = ({ advice }: Pick<Source, "advice">) => (
  <span class={NOTHING_TO_DO.includes(advice.code) ? "soft" : undefined}>{advice.text}</span>
);

const Advice = ({ advice }: Pick<Source, "advice">) => (
  <>
    <AdviceText advice={advice} />
    {advice.spf_term !== undefined && (
      <span class="spf-term">
        <code>{advice.spf_term}</code>
        <CopyButton text={advice.spf_term} label="Copy term" />
      </span>
    )}
  </>
);

const createColumns = (all: readonly Source[]): readonly Column<Source>[] => [
  {
    title: "Source",
    isHeader: true,
    cell: (source) => (
      <>
        {source.host_name ?? source.ip ?? SMALLEST}
        {source.host_name !== undefined && <small>{source.ip}</small>}
        <small>{toSpan(source)}</small>
        {source.unauthenticated > 0 && (
          <small>{formatNumber(source.unauthenticated)} in unauthenticated reports only</small>
        )}
      </>
    ),
  },
  { title: "Service", cell: ({ provider }) => toTitle(provider) },
  createVolumeColumn(all),
  ALIGNED,
  { title: "What to do", cell: ({ advice }) => <Advice advice={advice} /> },
];

export const SourceTable = ({ sources }: { readonly sources: readonly Source[] }) => (
  <RowTable
    label="Sources"
    columns={createColumns(sources)}
    rows={sources}
    getKey={({ ip }) => ip ?? ""}
  />
);

type Props = {
  readonly reports: Reports;
  readonly next: string | undefined;
  /** True when the user requested a page of addresses. */
  readonly isPaged: boolean;
};

export const Sources = ({ reports: { dmarc }, next, isPaged }: Props) => (
  <section class="panel wide sources" aria-labelledby="sources">
    <h2 id="sources">Who sends as this domain</h2>
    {dmarc.senders.length === 0 ? (
      <p>No DMARC reports in this period.</p>
    ) : (
      <>
        <SenderTable senders={dmarc.senders} />
        {dmarc.sender_count > dmarc.senders.length && (
          <p class="soft">The largest of {formatNumber(dmarc.sender_count)} senders.</p>
        )}
        <details open={isPaged}>
          <summary>{formatCount(dmarc.source_count, "address", "addresses")}</summary>
          <SourceTable sources={dmarc.sources} />
          {next !== undefined && (
            <p>
              <a href={next}>Smaller sources</a>
            </p>
          )}
        </details>
      </>
    )}
  </section>
);
