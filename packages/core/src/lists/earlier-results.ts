import { crc32 } from "node:zlib";
import { isAddress } from "@mailproof/mail/address";
import { parseAddressCell, readAddress } from "@mailproof/mail/address-cell";
import type { AccountHistory } from "../calibration/account-history.ts";
import { type ByteText, toText } from "../intake/byte-text.ts";
import type { FileIntake } from "../intake/ingest.ts";
import { type EncodedRow, type InputRow, readInput } from "../intake/input-blob.ts";
import { prefetch } from "../lib/prefetch.ts";
import { DAY_MS } from "../lib/time.ts";
import { UnreadableBlobError } from "../ports/blobs.ts";
import type { World } from "../ports/world.ts";
import { iterateChunks } from "../rows/chunks.ts";
import { findInputMetadata } from "../rows/input-metadata.ts";
import type { Job } from "../rows/items.ts";
import { ERASED, isDuplicate, type PackedRow, readPackedRows } from "../rows/results.ts";
import { readPackedValues } from "../verify/pack.ts";
import { isServerUnasked } from "../verify/result.ts";
import { findOwnCause } from "../verify/unpaid-results.ts";

// Compares the addresses of a new list with the results of an earlier one.

/** The job of the earlier list, for how many days a result of it stays good, and the bounces of the account's own mail. */
export type Continued = {
  readonly earlier: Job;
  readonly freshDays: number;
  readonly history: Pick<AccountHistory, "findBounce">;
  /** Runs the comparison in its turn among all reads of whole lists. `name` decides its result: equal ones that wait run once. */
  readonly inTurn: <T>(name: string, compare: () => Promise<T>) => Promise<T>;
};

/** How the addresses of a list compare with those of an earlier one. */
export type Comparison = {
  /** The number of addresses that the earlier list lacks. */
  readonly added: number;
  /** The number of addresses that keep the earlier result. */
  readonly kept: number;
  /** The number of addresses whose earlier result is missing, too old, without a verdict, or older than a bounce. */
  readonly stale: number;
  /** The number of addresses that only the earlier list contains. */
  readonly removed: number;
  /** The time of the oldest kept result. */
  readonly keptSince: string | null;
};

/** The states of the new list's rows, by the rows' positions. */
export const NEW = 0;
const STALE = 1;
export const KEPT = 2;

type ListedRows = ReturnType<typeof createListedRows>;

/** Only an address with such a character may differ from its canonical form. */
const MAY_DIFFER = /[A-Z\x80-\xff]/;

/** Remembers the number of each row of a list, a checksum of its cells, and an address that is not in its canonical form. */
export const createListedRows = () => {
  const rows: number[] = [];
  const sums: number[] = [];
  const spellings = new Map<number, ByteText>();
  return {
    onRow: ([row, email, ...cells]: EncodedRow): void => {
      if (MAY_DIFFER.test(email)) spellings.set(row, email);
      rows.push(row);
      sums.push(crc32(Buffer.from(JSON.stringify(cells), "latin1")));
    },
    /** The position of the row with this number among all rows. */
    findPosition: (row: number): number => {
      let [low, high] = [0, rows.length - 1];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((rows[middle] ?? 0) < row) low = middle + 1;
        else high = middle;
      }
      return low;
    },
    getRow: (position: number): number => rows[position] ?? 0,
    getCellsSum: (position: number): number => sums[position] ?? 0,
    /** The address in this canonical form as the row writes it. */
    spell: (row: number, canonical: string): string => {
      const own = spellings.get(row);
      return own === undefined ? canonical : toText(own);
    },
  };
};

export type ReadList = { readonly intake: FileIntake; readonly rows: ListedRows };

const CHUNKS_AHEAD = 3;
/** The place of the address in a packed result. */
const EMAIL = 1;

/** Reads the earlier results once, in their order. `onKept` receives each that is kept, and the position of its new row. */
export const compareLists = async (
  world: Pick<World, "table" | "blobs" | "callers" | "now">,
  { intake, rows }: ReadList,
  { earlier, freshDays, history }: Continued,
  onKept: (position: number, result: PackedRow[1]) => Promise<void> | undefined,
): Promise<{ readonly comparison: Comparison; readonly states: Uint8Array }> => {
  const states = new Uint8Array(intake.unique);
  const oldest = new Date(world.now().getTime() - freshDays * DAY_MS).toISOString();
  const requester = { account: earlier.account, priority: "list" } as const;
  const chunks = await Array.fromAsync(iterateChunks(world.table, earlier.id));
  let removed = 0;
  let keptSince: string | null = null;
  const counts = [intake.unique, 0, 0];
  for await (const found of prefetch(chunks, CHUNKS_AHEAD, (chunk) =>
    readPackedRows(world.table, chunk),
  )) {
    const bounced = await findBounced(history, found);
    for (const [number, packed] of found) {
      const [, email, , , , , , , , , , , verifiedAt] = readPackedValues(packed);
      if (email === ERASED || isDuplicate(packed)) continue;
      const { canonical } = readAddress(email);
      const row = intake.findRow(canonical);
      const position = rows.findPosition(row);
      if (row === 0 && !intake.isSettled(readAddress(email).canonical)) removed += 1;
      if (row === 0 || states[position] !== NEW) continue;
      const isGood = hasVerdict(packed) && verifiedAt >= oldest && !bounced.has(number);
      const state = isGood ? KEPT : STALE;
      states[position] = state;
      counts[state] = (counts[state] ?? 0) + 1;
      if (state !== KEPT) continue;
      if (keptSince === null || verifiedAt < keptSince) keptSince = verifiedAt;
      const own = rows.spell(row, canonical);
      await onKept(position, own === email ? packed : packed.with(EMAIL, own));
    }
    await world.callers.yieldToCallers(requester);
  }
  const { refunds, replaced } = earlier;
  // Some addresses of the earlier list may have no result, or were corrected to other addresses.
  if (refunds.cancelled + refunds.no_result + replaced > 0) {
    let absent = 0;
    const isRead = await readEarlierInput(world, earlier, ([, email]) => {
      const row = intake.findRow(readAddress(email).canonical);
      const position = rows.findPosition(row);
      if (row === 0 && email !== "") absent += 1;
      if (row === 0 || states[position] !== NEW) return;
      states[position] = STALE;
      counts[STALE] = (counts[STALE] ?? 0) + 1;
    });
    if (isRead) removed = absent;
  }
  const [, stale = 0, kept = 0] = counts;
  const added = intake.unique - stale - kept;
  return { comparison: { added, kept, stale, removed, keptSince }, states };
};

/** A role address has its status by its name, also when its mail server was not asked, or not for a reason of ours. */
const hasVerdict = (packed: PackedRow[1]): boolean => {
  const [, , status, , reason, subStatus] = readPackedValues(packed);
  if (status !== "role") return status !== "unknown";
  return !isServerUnasked({ reason, subStatus }) && !findOwnCause({ status, reason, subStatus });
};

/** These results hold whether or not mail to the address bounced: see the precedence of verdicts. */
const HELD_DESPITE_BOUNCES: ReadonlySet<string> = new Set(["invalid", "spam_trap", "disposable"]);
const LOOKUPS_AT_ONCE = 200;

/** The numbers of the rows whose result does not count a bounce that the account reported. */
const findBounced = async (
  history: Continued["history"],
  rows: readonly PackedRow[],
): Promise<ReadonlySet<number>> => {
  const bounced = new Set<number>();
  for (let from = 0; from < rows.length; from += LOOKUPS_AT_ONCE)
    await Promise.all(
      rows.slice(from, from + LOOKUPS_AT_ONCE).map(async ([number, packed]) => {
        const [, email, status, , reason] = readPackedValues(packed);
        if (HELD_DESPITE_BOUNCES.has(status) || reason === "bounced") return;
        const { address } = readAddress(email);
        if (address && (await history.findBounce(address)) !== null) bounced.add(number);
      }),
    );
  return bounced;
};

/** Calls `onRow` for each row of the earlier list as it was sent. Returns false when a row cannot be read. */
const readEarlierInput = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  { id, input }: Job,
  onRow: (row: InputRow) => void,
): Promise<boolean> => {
  try {
    const found = input && (await readInput(blobs, input, await findInputMetadata(table, id)));
    if (!found) return false;
    for await (const rows of found) for (const row of rows) onRow(row);
    return true;
  } catch (error) {
    if (error instanceof UnreadableBlobError) return false;
    throw error;
  }
};

/** Counts the rows with an earlier row's address and other cells. Null when the columns differ, or the earlier list is gone. */
export const countChangedRows = async (
  world: Pick<World, "table" | "blobs">,
  list: ReadList,
  { earlier }: Continued,
): Promise<number | null> => {
  if (!earlier.input) return null;
  const metadata = await findInputMetadata(world.table, earlier.id);
  const { columns, emailColumns } = list.intake.format;
  const names = columns.filter((_, at) => at !== emailColumns[0]);
  const { at, others = [] } = metadata.emailColumn ?? {};
  if ([at, ...others].join() !== emailColumns.join()) return null;
  if (metadata.columns.join("\n") !== names.join("\n")) return null;
  let changed = 0;
  const isRead = await readEarlierInput(world, earlier, (own) => {
    if (isChanged(list, own)) changed += 1;
  });
  return isRead ? changed : null;
};

const isChanged = ({ intake, rows }: ReadList, [_row, email, ...cells]: InputRow): boolean => {
  const parsed = parseAddressCell(email);
  const row = isAddress(parsed) ? intake.findRow(parsed.canonical) : 0;
  return row > 0 && rows.getCellsSum(rows.findPosition(row)) !== crc32(JSON.stringify(cells));
};
