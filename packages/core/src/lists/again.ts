import { readAddress } from "@mailproof/mail/address-cell";
import { createOriginTest, createRowTest, type RowFilter } from "../find-rows/row-filter.ts";
import { type ByteText, toByteText } from "../intake/byte-text.ts";
import {
  createExcludedWriter,
  type EncodedExcludedRow,
  toExcludedKey,
} from "../intake/excluded-rows.ts";
import { type EncodedRow, writeInput } from "../intake/input-blob.ts";
import { createTextSet, type TextSet } from "../intake/text-set.ts";
import { createTopDomains } from "../intake/top-domains.ts";
import { Failure } from "../lib/failure.ts";
import { prefetch } from "../lib/prefetch.ts";
import { type IdempotencyKey, toClaimKey } from "../money/idempotency-claims.ts";
import type { Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { iterateChunks } from "../rows/chunks.ts";
import { isOpenJob, type Job } from "../rows/items.ts";
import { freeIfChildEnded } from "../rows/replace-rows.ts";
import {
  findCountedDomains,
  toDomain,
  toDomainField,
  toSummaryKey,
} from "../rows/result-summary.ts";
import { ERASED, isDuplicate, type PackedRow, readPackedRows } from "../rows/results.ts";
import { readPackedValues } from "../verify/pack.ts";
import { type AcceptedList, acceptList } from "./accept-list.ts";
import { FILE } from "./dispatch.ts";
import { toInputBlobKey } from "./new-job.ts";

// Rows of a job that have a result are verified again by a child: a job of its own, with its own charge, refunds and
// results, whose rows have the numbers of the parent's. Its results replace those rows as they arrive (replace-rows.ts).

export type RowsToVerify = {
  readonly filter: RowFilter;
  /** Only addresses that contain this text. */
  readonly text: string | undefined;
  /** Only addresses of the first domain, which are verified at the second. */
  readonly correction: { readonly from: string; readonly to: string } | undefined;
};

/** `duplicates`: the free rows that repeat an address of the list and get its result. Absent in answers that 0.2.0 stored. */
export type ChildResult = AcceptedList & {
  readonly rows: number;
  readonly duplicates?: number;
  readonly replayed: boolean;
};

/** `findParent` is asked only if no earlier request with this key was accepted: a repeat does not need the parent. */
export const verifyAgain = (
  world: World,
  payer: Payer,
  findParent: () => Promise<Job>,
  wanted: RowsToVerify,
  idempotencyKey: IdempotencyKey | null,
): Promise<ChildResult> => {
  const chunkRows = world.settings.chunkRows.file;
  const price = PRICES.fileAddress;
  const order = { kind: FILE, reason: "verify_file", idempotencyKey, chunkRows, price } as const;
  return acceptList(world, payer, order, async (id) => {
    const parent = await freeIfChildEnded(world, await findParent());
    assertMayVerify(parent);
    const written = await writeRows(world, { parent, wanted, id, chunkRows });
    const duplicates = written.excluded?.rows ?? 0;
    if (written.unique + duplicates === 0) throw createNoRowsFailure();
    return {
      list: {
        ...written,
        name: parent.name,
        options: parent.options ?? DEFAULT_OPTIONS,
        callback: null,
        claim: idempotencyKey && toClaimKey(idempotencyKey),
        parent: parent.id,
      },
      answer: { rows: written.unique, duplicates },
    };
  });
};

const DEFAULT_OPTIONS = { deepVerify: true, includeAi: true };

const assertMayVerify = (parent: Job): void => {
  const why = findObstacle(parent);
  if (why) throw new Failure("JOB_OPEN", "nothing_charged", why);
};

const findObstacle = ({ kind, parent, child }: Job): string | undefined => {
  if (child !== undefined) return `Rows of the job are being verified again by ${child}.`;
  if (parent !== undefined) return `The job verified rows of ${parent} again: send its id instead.`;
  return kind === "single" ? "The job has one address: verify that instead." : undefined;
};

const createNoRowsFailure = (): Failure =>
  new Failure("INVALID_REQUEST", "nothing_charged", "No row of the job matches.", {
    details: [{ field: "filter", message: "matches no row of the job" }],
  });

type Selection = {
  readonly parent: Job;
  readonly wanted: RowsToVerify;
  readonly id: string;
  readonly chunkRows: number;
};

/**
 * Writes the rows that match as the input of the child. A row that was corrected to an address of the list, now or before,
 * repeats that address's row: the child does not verify it, and copies the other row's result at its end.
 */
const writeRows = async (world: World, { parent, wanted, id, chunkRows }: Selection) => {
  const domains = createTopDomains();
  let unique = 0;
  let atMeant = 0;
  const meant = wanted.correction?.to.toLowerCase();
  const select = createSelector(wanted);
  const requester = { account: parent.account, priority: "list" } as const;
  const chunks = await Array.fromAsync(iterateChunks(world.table, parent.id));
  async function* readParent(): AsyncGenerator<ParentRows> {
    const read = prefetch(chunks, CHUNKS_AHEAD, async (chunk) => ({
      known: chunk.known,
      rows: await readPackedRows(world.table, chunk),
    }));
    for await (const some of read) {
      yield some;
      await world.callers.yieldToCallers(requester);
    }
  }
  const mayRepeat = wanted.correction !== undefined || parent.hasDuplicates === true;
  const known = mayRepeat ? await findAddresses(parent, readParent(), select) : undefined;
  const key = toInputBlobKey(id);
  const writer = createExcludedWriter(world.blobs, toExcludedKey(key));
  async function* readRows(): AsyncGenerator<readonly EncodedRow[]> {
    for await (const { rows, known: inEarlier } of readParent()) {
      const verified: EncodedRow[] = [];
      const repeats: EncodedExcludedRow[] = [];
      for (const one of rows) {
        const selected = select(one, inEarlier);
        if (!selected) {
          if (toDomain(readPackedValues(one[1])[1]) === meant) atMeant += 1;
          continue;
        }
        const { row, email, mayRepeat: isCandidate } = selected;
        const first = isCandidate ? (known?.add(readAddress(email).canonical, row) ?? 0) : 0;
        if (first > 0) repeats.push([row, first, toByteText(email)]);
        else {
          domains.add(email);
          verified.push([row, toByteText(email), AS_SUBMITTED]);
        }
      }
      unique += verified.length;
      yield verified;
      if (repeats.length > 0) await writer.write(repeats);
    }
  }
  try {
    const written = await writeInput(world.blobs, key, readRows(), chunkRows);
    const excluded = await writer.end();
    const summary = meant && (await countMeantDomain(world, parent, meant, atMeant));
    return { ...written, unique, domains: domains.list(), excluded, ...(summary && { summary }) };
  } catch (error) {
    await writer.abort();
    throw error;
  }
};

/** Rows of a chunk, and those of them that an earlier list also contains. */
type ParentRows = {
  readonly rows: readonly PackedRow[];
  readonly known: readonly number[] | undefined;
};

/**
 * The summary of a corrected list counts the meant domain from now on. Undefined when it counts the domain already, or when
 * the list is open, because its workers may add uncounted rows.
 */
const countMeantDomain = async (
  { table }: World,
  parent: Job,
  meant: string,
  rows: number,
): Promise<Write | undefined> => {
  const counted = await findCountedDomains(table, parent.id);
  if (isOpenJob(parent) || counted.size === 0 || counted.has(meant)) return undefined;
  return { update: toSummaryKey(parent.id), add: { [toDomainField(meant)]: rows } };
};

/** Collects the addresses of the rows that the correction does not change. */
const findAddresses = async (
  { total }: Job,
  parent: AsyncIterable<ParentRows>,
  select: ReturnType<typeof createSelector>,
): Promise<TextSet> => {
  const known = createTextSet(total + 1);
  for await (const { rows, known: inEarlier } of parent)
    for (const one of rows) {
      const [row, packed] = one;
      const [, email] = readPackedValues(packed);
      if (email === ERASED || isDuplicate(packed) || select(one, inEarlier)?.mayRepeat) continue;
      known.add(readAddress(email).canonical, row);
    }
  return known;
};

const CHUNKS_AHEAD = 3;
/** An empty cell text: the submitted cell equals the address. */
const AS_SUBMITTED: ByteText = toByteText("");

const createSelector = ({ filter, text, correction }: RowsToVerify) => {
  const isWanted = createRowTest(filter, text);
  const ending = correction && `@${correction.from.toLowerCase()}`;
  return (
    [row, packed]: PackedRow,
    inEarlier: readonly number[] | undefined,
  ): SelectedRow | undefined => {
    const values = readPackedValues(packed);
    const [, email] = values;
    if (email === ERASED || !isWanted(values)) return undefined;
    if (createOriginTest(filter, inEarlier)?.(row) === false) return undefined;
    if (!correction || !ending) return { row, email, mayRepeat: isDuplicate(packed) };
    const at = email.length - ending.length;
    return email.toLowerCase().endsWith(ending)
      ? { row, email: `${email.slice(0, at)}@${correction.to}`, mayRepeat: true }
      : undefined;
  };
};

/** `mayRepeat`: another row may have the same address. */
type SelectedRow = { readonly row: number; readonly email: string; readonly mayRepeat: boolean };
