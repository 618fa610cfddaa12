import type { ListLedgerEntriesData } from "@mailproof/client";
import { useState } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatChange, formatTime } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { CsvButton } from "../../parts/csv-button.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { loadNames } from "../../parts/names.ts";
import type { Period } from "../../parts/period.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { getClient, isTestKey } from "../../session.ts";
import { type LedgerEntry, MOVEMENTS, OPERATIONS, REASONS } from "./words.ts";

const ALL_AT_ONCE = 200;

const readAll = async ({ from, to }: Period): Promise<readonly LedgerEntry[]> => {
  const entries: LedgerEntry[] = [];
  let offset: string | undefined;
  do {
    const page = await getClient().listLedgerEntries({
      from,
      to,
      limit: ALL_AT_ONCE,
      ...(offset !== undefined && { offset }),
    });
    entries.push(...page.entries);
    offset = page.next_offset;
  } while (offset !== undefined);
  return entries;
};

const COLUMNS = [
  "entry_id",
  "created_at",
  "began_at",
  "type",
  "operation",
  "credits",
  "balance_change",
  "held_change",
  "operation_id",
  "job_id",
  "person_id",
  "check_id",
  "reason",
] as const satisfies readonly (keyof LedgerEntry)[];

const toTable = (entries: readonly LedgerEntry[]) => ({
  header: COLUMNS,
  rows: entries.map((entry) => COLUMNS.map((column) => entry[column] ?? "")),
});

export const LedgerPanel = ({ period, fileName }: { period: Period; fileName: string }) => {
  const { from, to } = period;
  const first = useLoad(
    (signal) => getClient().listLedgerEntries({ from, to }, { signal }),
    [from, to],
  );
  return (
    <section class="panel history wide" aria-labelledby="ledger">
      <div class="heading">
        <h2 id="ledger">Ledger</h2>
        <CsvButton
          of="The ledger"
          fileName={`${fileName}-ledger`}
          getTable={async () => toTable(await readAll(period))}
        />
      </div>
      <Loaded load={first} what="the ledger" as="rows">
        {(page) => <Entries key={`${from} ${to}`} first={page} period={period} />}
      </Loaded>
    </section>
  );
};

type EntriesProps = { readonly first: ListLedgerEntriesData; readonly period: Period };

const Entries = ({ first, period: { from, to } }: EntriesProps) => {
  const [more, setMore] = useState<readonly ListLedgerEntriesData[]>([]);
  const pages = [first, ...more];
  const entries = pages.flatMap((page) => page.entries);
  const offset = pages.at(-1)?.next_offset;
  const { isRunning, error, run } = useAction(async () => {
    if (offset === undefined) return;
    const page = await getClient().listLedgerEntries({ from, to, offset });
    setMore((before) => [...before, page]);
  });
  if (entries.length === 0)
    return (
      <p class="soft">
        {isTestKey.value
          ? "A test key moves no credits, so its ledger is empty."
          : "No credits moved in this period."}
      </p>
    );
  return (
    <>
      <p class="soft">
        Held: a request was accepted. Settled: it ended, and its hold is paid. Released: it ended,
        and its hold returns to the balance. Refunded: credits that return after they were paid.
      </p>
      <EntryTable entries={entries} />
      {error !== undefined && <ErrorPanel error={error} onRetry={() => void run()} />}
      {offset !== undefined && error === undefined && (
        <button type="button" aria-disabled={isRunning} onClick={() => void run()}>
          {isRunning ? "Loading earlier entries …" : "Show earlier entries"}
        </button>
      )}
    </>
  );
};

const toColumns = (names: ReadonlyMap<string, string>): readonly Column<LedgerEntry>[] => [
  {
    title: "Movement",
    isHeader: true,
    cell: ({ type, created_at }) => (
      <>
        {MOVEMENTS[type]}
        <small>
          <time dateTime={created_at}>{formatTime(created_at)}</time>
        </small>
      </>
    ),
  },
  {
    title: "Balance change",
    isNumber: true,
    cell: ({ balance_change }) => formatChange(balance_change),
  },
  { title: "Held change", isNumber: true, cell: ({ held_change }) => formatChange(held_change) },
  {
    title: "For",
    cell: ({ operation, reason, person_id: id }) =>
      [
        ...(operation ? [OPERATIONS[operation]] : []),
        ...(reason ? [REASONS[reason]] : []),
        ...(id === undefined ? [] : [names.get(id) ?? id]),
      ].join(" · "),
  },
  { title: "Operation", cell: (entry) => <OperationLink entry={entry} /> },
];

const NO_NAMES: ReadonlyMap<string, string> = new Map();

const EntryTable = ({ entries }: { readonly entries: readonly LedgerEntry[] }) => {
  // Only an entry of a person needs a name.
  const hasPeople = entries.some(({ person_id: id }) => id !== undefined);
  const names = useLoad(async (signal) => (hasPeople ? loadNames(signal) : NO_NAMES), [hasPeople]);
  return (
    <div class="scroll ledger" role="region" aria-label="Entries of the ledger" tabIndex={0}>
      <RowTable
        label="Entries, newest first"
        columns={toColumns(names.data ?? NO_NAMES)}
        rows={entries}
        getKey={({ entry_id }) => entry_id}
      />
    </div>
  );
};

/** The start of an id tells operations apart. The tooltip and the file have the whole id. */
const SHOWN_LENGTH = 12;

const OperationLink = ({ entry: { job_id, operation_id } }: { readonly entry: LedgerEntry }) => {
  const id = <code title={operation_id}>{operation_id.slice(0, SHOWN_LENGTH)}…</code>;
  return job_id === undefined ? id : <a href={toHref(`lists/${job_id}`)}>{id}</a>;
};
