import type { Subject } from "../accounts/subject.ts";
import { removeExports } from "../exports/remove-exports.ts";
import { toExcludedKey } from "../intake/excluded-rows.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { countChunks } from "../lists/deletion-items.ts";
import { type Blobs, UnreadableBlobError } from "../ports/blobs.ts";
import type { Amounts, Item, Table, TableQuery } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { findChunk } from "../rows/chunks.ts";
import { findInputMetadata, type InputMetadata, toInputKey } from "../rows/input-metadata.ts";
import { CLOSED_STATUSES, type Job, toJobKey } from "../rows/items.ts";
import {
  listDomainFields,
  REFUSED_PREFIX,
  toDomain,
  toDomainField,
  toSummaryKey,
  toTypoPrefix,
} from "../rows/result-summary.ts";
import {
  ERASED,
  packRows,
  readPageText,
  toPagesPartition,
  toPageToken,
  unpackRows,
  type VerifiedRow,
} from "../rows/results.ts";
import { toEvidenceKey } from "../rows/row-evidence.ts";
import {
  findReplacedRows,
  joinTexts,
  readTexts,
  splitTexts,
  toAddressesPartition,
  toChunkRange,
} from "../rows/row-index.ts";
import { commit } from "../runtime/commit.ts";
import { removeListSample, removeOwnSpare, removeSpares, toSpareItem } from "./list-copies.ts";
import {
  type LineOptions,
  redactExcludedRow,
  redactInputRow,
  redactLines,
  redactResult,
  sumChunks,
} from "./redact-lines.ts";

// Erases an address from the list and the results of one ended job. Its rows stay without the address: the job counts them, and
// the other rows keep their positions. Every step may be repeated.

/** Returns the number of rows that showed the address, in the list or in the results. */
export const eraseFromJob = async (world: World, job: Job, subject: Subject): Promise<number> => {
  await removeSpares(world, job);
  const inList = await eraseFromInput(world, job, subject);
  const inResults = await eraseFromResults(world, job, subject);
  // Exports can be made again. A worker that makes an export now finds it removed, and removes its output.
  await removeExports(world, job.id);
  return Math.max(inList, inResults);
};

export const isInList = async (world: World, job: Job, subject: Subject): Promise<boolean> => {
  if (job.single) return subject.matches(job.single.email);
  return job.input !== undefined && (await countRows(world, job, job.input, subject)) !== 0;
};

type Input = NonNullable<Job["input"]>;

const eraseFromInput = async (world: World, job: Job, subject: Subject): Promise<number> => {
  if (!job.input) return 0;
  const count = await countRows(world, job, job.input, subject);
  if (count === "unreadable") {
    await removeList(world.blobs, job, job.input);
    return 0;
  }
  // Removes the upload before the list: a crash in between must not leave a copy that nothing refers to. A list that was
  // redacted before may have been uploaded again.
  if (job.upload !== undefined && (count > 0 || job.redactions > 0))
    await world.blobs.remove(job.upload);
  if (count === 0) return 0;
  await removeListSample(world.table, job);
  await replaceInput(world, job, job.input, subject);
  return count;
};

/** A damaged list cannot be redacted and no export reads it any more, so this removes the whole list. */
const removeList = async (
  blobs: Pick<Blobs, "remove">,
  { upload }: Job,
  { key }: Input,
): Promise<void> => {
  for (const one of [key, toExcludedKey(key), ...(upload === undefined ? [] : [upload])])
    await blobs.remove(one);
};

const countRows = async (
  world: World,
  job: Job,
  input: Input,
  subject: Subject,
): Promise<number | "unreadable"> => {
  const { excluded } = await findInputMetadata(world.table, job.id);
  let count = 0;
  const onRow = () => void count++;
  try {
    await drain(world, input, { subject, redactRow: redactInputRow(subject), onRow });
    if (excluded)
      await drain(world, excluded, { subject, redactRow: redactExcludedRow(subject), onRow });
    return count;
  } catch (error) {
    if (error instanceof UnreadableBlobError) return "unreadable";
    throw error;
  }
};

/** Reads a list to its end; a removed list has no lines. */
const drain = async (
  { blobs }: Pick<World, "blobs">,
  { key, version }: Input,
  options: LineOptions,
): Promise<void> => {
  const found = await blobs.get(key, { version });
  for await (const _ of redactLines(found?.content ?? NOTHING, options)) continue;
};

const NOTHING: AsyncIterable<Uint8Array> = (async function* () {})();

/** Writes the redacted list under a new key, since readers pin a version, and then changes the job's reference to it. */
const replaceInput = async (
  world: World,
  job: Job,
  input: Input,
  subject: Subject,
): Promise<void> => {
  const metadata = await findInputMetadata(world.table, job.id);
  const spare = toSpareItem(job.id, `inputs/${job.id}.${world.newId("txn")}.jsonl`, world.now());
  const { outcome: recorded } = await world.table.write({ create: spare.item });
  if (recorded !== "committed") throw new Error("a new input was not recorded");
  const next = await writeRedacted(world.blobs, { input, metadata, key: spare.key, subject });
  if (!next) return removeOwnSpare(world, spare);
  const { outcome } = await commit(world, {
    proof: null,
    also: [
      {
        update: toInputKey(job.id),
        set: { checksums: next.checksums, excluded: next.excluded, rev: metadata.rev + 1 },
        where: { rev: metadata.rev },
      },
      {
        update: toJobKey(job.id),
        set: { input: next.input },
        add: { redactions: 1 },
        where: { status: { oneOf: CLOSED_STATUSES } },
      },
      // The table refuses this write if another process removes the spare's blob: the job must not refer to that blob.
      { remove: spare.item, where: { isDropped: { missing: true } } },
      { create: { ...toSpareItem(job.id, input.key, world.now()).item, isWritten: true } },
    ],
  });
  if (outcome === "refused") await removeOwnSpare(world, spare);
  // "refused": another erasure finished first, or the job was deleted. The next attempt finds out which.
  if (outcome !== "committed")
    throw new Error(`the input of ${job.id} was not replaced: ${outcome}`);
  await removeSpares(world, job);
};

type Replacement = {
  readonly input: Input;
  readonly metadata: InputMetadata;
  readonly key: string;
  readonly subject: Subject;
};

const writeRedacted = async (
  blobs: Pick<Blobs, "get" | "put">,
  { input, metadata, key, subject }: Replacement,
) => {
  const found = await blobs.get(input.key, { version: input.version });
  if (!found) return undefined;
  const onRow = () => {};
  const checksums: number[] = [];
  const lines = redactLines(found.content, {
    subject,
    redactRow: redactInputRow(subject),
    onRow,
  });
  const { version } = await blobs.put(key, sumChunks(lines, metadata.chunks, checksums));
  const { excluded } = metadata;
  const old = excluded && (await blobs.get(excluded.key, { version: excluded.version }));
  if (!excluded || !old) return { input: { key, version }, checksums, excluded: null };
  const redactRow = redactExcludedRow(subject);
  const excludedKey = toExcludedKey(key);
  const stored = await blobs.put(
    excludedKey,
    redactLines(old.content, { subject, redactRow, onRow }),
  );
  return {
    input: { key, version },
    checksums,
    excluded: { key: excludedKey, version: stored.version, rows: excluded.rows },
  };
};

const eraseFromResults = async (world: World, job: Job, subject: Subject): Promise<number> => {
  const summary = await world.table.get(toSummaryKey(job.id));
  let count = 0;
  // By chunk number, because a worker may have stored pages of a chunk that never got an outcome.
  for (let chunk = 0; chunk < countChunks(job); chunk++) {
    const pages = paginateQuery(world.table, {
      pk: toPagesPartition({ job: job.id, chunk }),
      pageSize: 20,
    });
    for await (const page of pages)
      count += await eraseFromPage(world, { job, chunk, summary, subject }, page);
  }
  if (count > 0) await world.table.write({ update: toJobKey(job.id), add: { redactions: 1 } });
  await removeEmptyDomains(world, summary, subject);
  return count;
};

type PageOwner = {
  readonly job: Job;
  readonly chunk: number;
  readonly summary: Item | undefined;
  readonly subject: Subject;
};

const eraseFromPage = async (
  { table, blobs }: Pick<World, "table" | "blobs">,
  { job, chunk, summary, subject }: PageOwner,
  page: Item,
): Promise<number> => {
  let count = 0;
  const stored = unpackRows(page);
  const rows = stored.map((row) => {
    const result = redactResult(row.result, subject);
    if (!result) return row;
    count += 1;
    return { ...row, result };
  });
  if (count === 0) return 0;
  // Erases these addresses before the page, which leads here again after a crash.
  await eraseAddresses(
    table,
    { pk: toAddressesPartition(job.id), sk: toChunkRange(chunk) },
    subject,
  );
  const token = toPageToken(page);
  // The object also contains the evidence of the other rows of this worker's run: evidence expires within days, and erasures are rare.
  await blobs.remove(toEvidenceKey({ job: job.id, chunk, token }));
  const isCounted = (await findChunk(table, job.id, chunk))?.passes.includes(token);
  const replaced = await findReplacedRows(table, { job: job.id, chunk, token });
  const counted = stored.filter(({ row }) => !replaced.has(row));
  const change = countErasedDomains(counted, subject, summary);
  const { outcome } = await table.transact([
    {
      update: { pk: page.pk, sk: page.sk },
      set: { rows: packRows(rows) },
      // Another erasure may have changed the page, and this write must not undo it.
      where: { rows: readPageText(page) },
    },
    ...(isCounted && Object.keys(change).length > 0
      ? [{ update: toSummaryKey(job.id), add: change }]
      : []),
  ]);
  if (outcome !== "committed") throw new Error(`a page of results was not redacted: ${outcome}`);
  return count;
};

const countErasedDomains = (
  rows: readonly VerifiedRow[],
  subject: Subject,
  summary: Item | undefined,
): Amounts => {
  const change: Record<string, number> = {};
  const isCounted = (domain: string) => summary?.[toDomainField(domain)] !== undefined;
  for (const { result } of rows)
    if (subject.matches(result.email))
      for (const field of listDomainFields(result, isCounted))
        change[field] = (change[field] ?? 0) - 1;
  return change;
};

/** Erases the address from the index that searches and sorts a chunk's rows. */
const eraseAddresses = async (
  table: Table,
  range: Pick<TableQuery, "pk" | "sk">,
  subject: Subject,
): Promise<void> => {
  for await (const item of paginateQuery(table, range)) {
    const emails = splitTexts(readTexts(item));
    if (!emails.some(subject.matches)) continue;
    const texts = joinTexts(emails.map((email) => (subject.matches(email) ? ERASED : email)));
    const { outcome } = await table.write({
      update: { pk: item.pk, sk: item.sk },
      set: { texts },
      where: { texts: readTexts(item) },
    });
    if (outcome !== "committed") throw new Error(`addresses were not redacted: ${outcome}`);
  }
};

const isOfDomain = (field: string, domain: string): boolean =>
  field.replace(REFUSED_PREFIX, "") === toDomainField(domain) ||
  field.startsWith(toTypoPrefix(domain));

/** A domain whose last row was erased may belong to a person. The table refuses the removal when the domain has other rows. */
const removeEmptyDomains = async (
  { table }: Pick<World, "table">,
  summary: Item | undefined,
  { address, canonical }: Subject,
): Promise<void> => {
  if (!summary) return;
  const domains = new Set([canonical, ...(address ? [address.display] : [])].map(toDomain));
  for (const field of Object.keys(summary))
    if ([...domains].some((domain) => isOfDomain(field, domain)))
      await table.write({
        update: { pk: summary.pk, sk: summary.sk },
        set: { [field]: undefined },
        where: { [field]: 0 },
      });
};
