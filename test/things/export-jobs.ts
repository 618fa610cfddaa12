import type { AppWorld } from "@mailproof/core/app-world";
import { workers } from "@mailproof/core/background/workers";
import { credits } from "@mailproof/core/money/credits";
import type { Queue, QueueReceiver } from "@mailproof/core/ports/queue";
import type { Item, Table } from "@mailproof/core/ports/table";
import { toChunkItem, toChunkKey } from "@mailproof/core/rows/chunks";
import { type Job, NO_PROGRESS, toJobItem } from "@mailproof/core/rows/items";
import { toPageItems, type VerifiedRow } from "@mailproof/core/rows/results";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { Verification } from "@mailproof/core/verify/result";
import { verify } from "@mailproof/core/verify/verify";
import { streamPieces } from "../app/form.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";

export type TestContext = Awaited<ReturnType<typeof given>>;

/** An app whose chunks have this many rows, so that a few rows are several chunks. */
export const givenSmallChunks = async (rows = 2): Promise<TestContext> => {
  const ctx = await given({ balance: 100 });
  const settings = { ...ctx.world.settings, chunkRows: { batch: rows, file: rows } };
  return { ...ctx, world: { ...ctx.world, settings } };
};

type List = { readonly text: string; readonly name?: string; readonly key?: string };

/** Uploads a list and has it processed; nothing of it is verified yet. */
export const givenFileJob = async (
  ctx: TestContext,
  { text, name, key }: List,
): Promise<string> => {
  const { world, liveKey } = ctx;
  const request = {
    key: key ?? liveKey,
    body: { action: "get_upload_url", file_name: "list.csv" },
  };
  const { file_key } = (await send(world, "POST /v1/verify/file", request)).data;
  await world.blobs.put(file_key, streamPieces(text));
  const body = { action: "process", file_key, ...(name !== undefined && { name }) };
  const response = await send(world, "POST /v1/verify/file", { key: key ?? liveKey, body });
  if (response.statusCode !== 202) throw new Error(response.error.message);
  return response.data.job_id;
};

/** Handles up to this many messages of the queues of chunks and singles. */
export const whenMessagesWorked = async (ctx: TestContext, most = Infinity): Promise<void> => {
  let left = most;
  for (const worker of workers) left -= await workOff(ctx, worker, left);
};

const workOff = async (
  { world, queue }: { readonly world: AppWorld; readonly queue: Queue & QueueReceiver },
  worker: Worker<AppWorld>,
  most: number,
): Promise<number> => {
  let count = 0;
  while (count < most) {
    const [one] = await queue.receive(worker.queue, { max: 1, waitMs: 0 });
    if (!one) break;
    await worker.handle(world, one.body);
    await queue.acknowledge(one.receipt);
    count++;
  }
  return count;
};

/** As a worker finds out, of whatever address. */
export const verifyEmail = (world: AppWorld, email: string): Promise<Verification> =>
  verify(world.engine, email, { deepVerify: true, includeAi: true, includeEvidence: false });

/** So many rows, all of one result but for their addresses. */
export const createRows = (result: Verification, count: number): readonly VerifiedRow[] =>
  Array.from({ length: count }, (_, n) => ({
    row: n + 1,
    result: { ...result, email: `ann+${n + 1}@x.com` },
  }));

/** A job as the table has it when its chunks are done, with these rows in them. */
export const givenJobOf = async (
  {
    world,
    account,
    table,
  }: Pick<TestContext, "account"> & Pick<AppWorld, "table"> & { readonly world: AppWorld },
  chunks: readonly (readonly VerifiedRow[])[],
  also: Partial<Job> = {},
): Promise<string> => {
  const { id = "job_1" } = also;
  const expiresAt = Math.floor(world.now().getTime() / 1_000) + RETENTION_SECONDS;
  for (const [chunk, rows] of chunks.entries()) {
    const chunkId = { job: id, chunk };
    const done = { ...chunkId, outcome: "done" as const, rows: rows.length, passes: ["pass"] };
    const ended = toChunkItem({ ...done, waiting: 0, from: 0, to: 0, checksum: 0, again: 0 });
    await table.write({ create: { ...ended, expires_at: expiresAt } });
    for (const page of toPageItems({ ...chunkId, token: "pass" }, rows, expiresAt))
      await table.write({ create: page });
  }
  const processed = chunks.flat().length;
  const job: Job = {
    ...NO_PROGRESS,
    id,
    owner: account,
    account,
    mode: "live",
    kind: "batch",
    name: null,
    status: "completed",
    createdAt: world.now().toISOString(),
    completedAt: world.now().toISOString(),
    retentionSeconds: RETENTION_SECONDS,
    total: processed,
    processed,
    valid: processed,
    held: credits(0),
    shard: 0,
    reason: "verify_file",
    ...also,
  };
  await table.write({ create: toJobItem(job) });
  return job.id;
};

export const RETENTION_SECONDS = 30 * 86_400;

/** As if its days were over, or as if an index had not caught up. */
export const whenChunkIsGone = (table: Table, job: string, chunk: number) =>
  table.write({ remove: toChunkKey(job, chunk) });

/** What nothing in the product does: the chunk says that it has rows, and they are not there. */
export const whenPagesAreGone = async (
  table: Table & { items: () => readonly Item[] },
  job: string,
  chunk: number,
): Promise<void> => {
  const pages = table.items().filter(({ pk }) => pk === `RESULTS#${job}#${chunk}`);
  for (const { pk, sk } of pages) await table.write({ remove: { pk, sk } });
};
