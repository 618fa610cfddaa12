import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import { credits } from "@mailproof/core/money/credits";
import type { Queue } from "@mailproof/core/ports/queue";
import { CHUNK_ROWS } from "@mailproof/core/ports/settings";
import { findJob, isOpenJob } from "@mailproof/core/rows/items";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { Aws } from "@mailproof/functions/aws/requests";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { workerSpecs } from "../../infra/topology.ts";
import { givenWorld } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
import { AWS_MEASURES, createFairQueues, type NoisyMeasures } from "../aws/fair-queues.ts";
import { countCall } from "../aws/pending-calls.ts";
import {
  createProcessRequest,
  formatCsv,
  givenUpload,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";

// The simulation of accounts that share the queue of chunks on AWS: the real endpoints, the real adapter of SQS with the
// SDK, the real worker in the handler of its Lambda, as many at once as infra/topology.ts has. Made up are the fair queue
// (test/aws/fair-queues.ts), the mail servers, and time.

const QUEUE = "chunks";
const IDLE_MS = 200;
/** How long a chunk takes is given: a file's 15 to 45 seconds, each another time, and a batch of ten 2 seconds. */
const FILE_CHUNK_MS = { least: 15_000, spread: 30_000 };
const BATCH_CHUNK_MS = 2_000;
const FILE_DOMAIN = "file.example";
/** Its multiples, without their whole part, are spread evenly. */
const GOLDEN = 0.618_034;
const spec = workerSpecs.find(({ queue }) => queue === QUEUE);

export type FairQueuesOptions = {
  /** 0: no file. */
  readonly fileRows: number;
  readonly accounts: number;
  /** The batches arrive one after the other in this time, beginning a minute after the file. */
  readonly arrivalMs: number;
  /** False: messages are sent without their MessageGroupId. */
  readonly isGrouped?: boolean;
  readonly measures?: NoisyMeasures;
  readonly concurrency?: number;
  /** Of the file. Absent: as many as on AWS. */
  readonly chunkRows?: number;
};

const MINUTE_MS = 60_000;
const BATCH_ROWS = 10;

export const givenSharedQueue = ({
  measures = AWS_MEASURES,
  isGrouped = true,
  chunkRows = CHUNK_ROWS.file,
}: Pick<FairQueuesOptions, "measures" | "isGrouped" | "chunkRows"> = {}) => {
  /** The same for all rows of a chunk. */
  const getFileMs = (recipient: string): number => {
    const chunk = Math.floor(Number(/\d+/.exec(recipient)?.[0]) / chunkRows);
    return FILE_CHUNK_MS.least + FILE_CHUNK_MS.spread * ((chunk * GOLDEN) % 1);
  };
  const ctx = givenWorld();
  const { now, sleep, engine } = ctx.world;
  const sqs = createFairQueues(now, measures);
  const aws: Aws = {
    region: "eu-central-1",
    credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
    endpoints: { sqs: "http://sqs.test" },
    transport: sqs.transport,
    now,
    random: () => 0,
    sleep: async () => {},
  };
  const names = [...new Set(workerSpecs.map(({ queue }) => queue))];
  const urls = Object.fromEntries(names.map((name) => [name, `http://sqs.test/1/${name}`]));
  const adapter = createSqsQueue(aws, urls);
  const queue: Queue = {
    ...adapter,
    sendMany: (name, messages) =>
      // The SDK takes no virtual time.
      countCall(() =>
        adapter.sendMany(
          name,
          isGrouped
            ? messages
            : messages.map(({ body, delaySeconds = 0 }) => ({ body, delaySeconds })),
        ),
      ),
  };
  const world: AppWorld = {
    ...ctx.world,
    queue,
    log: () => undefined,
    settings: { ...ctx.world.settings, chunkRows: { ...CHUNK_ROWS, file: chunkRows } },
    engine: {
      ...engine,
      probe: async (request) => {
        await sleep(request.domain === FILE_DOMAIN ? getFileMs(request.recipient) : BATCH_CHUNK_MS);
        return engine.probe(request);
      },
    },
  };

  /** One of the Lambda's concurrent invocations, as its poller calls them. */
  const pollUntil = async (
    isOver: () => boolean,
    worker: Worker<AppWorld> = verifyChunk,
    batch = spec?.batch ?? 1,
  ): Promise<void> => {
    const handler = createQueueHandler(worker, world, async ({ receiptHandle }, seconds) =>
      sqs.release(receiptHandle, seconds),
    );
    while (!isOver()) {
      const event = sqs.receive(worker.queue.name, batch);
      if (event.Records.length === 0) {
        await sleep(IDLE_MS);
        continue;
      }
      const { batchItemFailures } = await handler(event, createContext());
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const { messageId } of event.Records)
        if (!failed.has(messageId)) sqs.acknowledge(messageId);
    }
  };

  const open = async (name: string) => {
    const opening = credits(600_000);
    return openAccount(world, { name, plan: "scale", opening });
  };
  return { ...ctx, world, sqs, pollUntil, open };
};

type SharedQueue = ReturnType<typeof givenSharedQueue>;

export const sendFile = async (ctx: SharedQueue, rows: number, more: readonly string[] = []) => {
  const { account, liveKey } = await ctx.open("File");
  const emails = [...Array.from({ length: rows }, (_, n) => `p${n}@${FILE_DOMAIN}`), ...more];
  const fileKey = await givenUpload(ctx, liveKey, formatCsv(emails));
  const { data } = await whenFiled(ctx.world, liveKey, createProcessRequest(fileKey));
  return { account, job: String(data.job_id) };
};

export const sendBatch = async (ctx: SharedQueue, number: number) => {
  const { account, liveKey } = await ctx.open(`Batch ${number}`);
  const emails = Array.from({ length: BATCH_ROWS }, (_, n) => `b${number}.${n}@other.example`);
  const { data } = await whenBatched(ctx.world, liveKey, { emails });
  return { account, job: String(data.job_id) };
};

/** How long each batch takes from its request to the end of its job, in seconds. Ends with the last of them. */
export const simulateFairQueues = async (options: FairQueuesOptions): Promise<number[]> => {
  const { fileRows, accounts, arrivalMs, concurrency = spec?.lambda.reserved ?? 0 } = options;
  const ctx = givenSharedQueue(options);
  const { sleep, now } = ctx.world;
  let isOver = false;
  const polling = Promise.all(
    Array.from({ length: concurrency }, () => ctx.pollUntil(() => isOver)),
  );
  if (fileRows > 0) await sendFile(ctx, fileRows);
  const measureBatch = async (number: number): Promise<number> => {
    await sleep(MINUTE_MS + (number * arrivalMs) / accounts);
    const from = now().getTime();
    const { job } = await sendBatch(ctx, number);
    for (;;) {
      const found = await findJob(ctx.table, job);
      if (!found || !isOpenJob(found)) return (now().getTime() - from) / 1_000;
      await sleep(IDLE_MS);
    }
  };
  const seconds = await Promise.all(Array.from({ length: accounts }, (_, n) => measureBatch(n)));
  isOver = true;
  await polling;
  return seconds.toSorted((a, b) => a - b);
};
