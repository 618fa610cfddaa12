import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { parentPort } from "node:worker_threads";
import { readTexts, toAddressesPartition } from "@mailproof/core/rows/row-index";
import { createApiServer } from "@mailproof/local/server/server";
import { createFinishedJob } from "../../bench/export/finished-job.ts";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { givenFileJob } from "../things/export-jobs.ts";

// A server in a thread with little memory, with a long and a wide list in its store. It counts the processor time of each
// turn of its event loop, which is the same however busy the machine is.

const ROWS = 60_000;
const COLUMNS = 6_000;
/** A page of all of them would have 3.6 MB. */
const WIDE_ROWS = 150;

export type BoundedServer = {
  readonly port: number;
  /** The account with the long list. */
  readonly long: { readonly job: string; readonly key: string };
  readonly wide: { readonly job: string; readonly key: string };
};

const storeWideList = async () => {
  const ctx = await given({ balance: 1_000, plan: "scale" });
  const names = Array.from({ length: COLUMNS }, (_, at) => `a long name of column ${at}`);
  const rows = Array.from({ length: WIDE_ROWS }, (_, n) => `ann${n}@x.com${",1".repeat(COLUMNS)}`);
  const text = [`email,${names.join()}`, ...rows].join("\n");
  const job = await givenFileJob(ctx, { text });
  await whenWorked(ctx);
  return { ctx, wide: { job, key: ctx.liveKey } };
};

const { ctx, wide } = await storeWideList();
const long = await createFinishedJob(ctx.world, ROWS);
const prefix = "a".repeat(150);
const page = await ctx.table.query({ pk: toAddressesPartition(long.job), limit: ROWS });
for (const item of page.items)
  await ctx.table.write({
    put: { ...item, texts: readTexts(item).replaceAll(/(^|\u007f)/g, `$1${prefix}`) },
  });
// Real pauses: in virtual time other requests would never run between two slices.
const sleep = () => new Promise<void>((resolve) => setImmediate(resolve));
const callers = { enter: () => () => undefined, yieldToCallers: sleep };
const server = createApiServer({ ...ctx.world, sleep, callers }, () => undefined).listen(
  0,
  "127.0.0.1",
);
await once(server, "listening");

const readMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
let longestMs = 0;
let before = readMs();
const watch = (): void => {
  const now = readMs();
  longestMs = Math.max(longestMs, now - before);
  before = now;
  setImmediate(watch);
};
parentPort?.on("message", () => {
  parentPort?.postMessage(longestMs);
  longestMs = 0;
});
setImmediate(watch);
const { port } = server.address() as AddressInfo;
parentPort?.postMessage({ port, long, wide } satisfies BoundedServer);
