import { reconcile } from "@mailproof/core/background/reconciler";
import type { Worker } from "@mailproof/core/runtime/worker";
import { expect, test } from "vitest";
import { workerSpecs } from "../../infra/topology.ts";
import { whenVerified } from "../app/send.ts";
import { AWS_MEASURES } from "../aws/fair-queues.ts";
import { givenSharedQueue, sendBatch, sendFile, simulateFairQueues } from "./fair-queues.ts";

// Goal: on AWS a file does not delay the batches of other accounts, by what the adapter, the workers and their concurrency
// contribute to it. The order itself is a model of SQS. `npm run bench fairness-on-aws` has the figures.

/** Forty chunks, which four workers verify in five minutes. */
const FILE_BESIDE = {
  fileRows: 400,
  chunkRows: 10,
  accounts: 5,
  arrivalMs: 60_000,
  concurrency: 4,
};

test("small batches of other accounts overtake a file, and wait only for a free Lambda", async () => {
  const seconds = await simulateFairQueues(FILE_BESIDE);

  expect(seconds.at(-1)).toBeLessThan(20);
});

test("small batches wait for the file when messages carry no account as MessageGroupId", async () => {
  const seconds = await simulateFairQueues({ ...FILE_BESIDE, isGrouped: false });

  expect(seconds[0]).toBeGreaterThan(100);
});

test("a file counts as noisy by its messages in flight alone, since so many chunks run at once", async () => {
  const byInFlight = { ...AWS_MEASURES, byTime: false };
  const seconds = await simulateFairQueues({
    fileRows: 2_000,
    chunkRows: 10,
    accounts: 5,
    arrivalMs: 60_000,
    measures: byInFlight,
  });

  expect(seconds.at(-1)).toBeLessThan(10);
});

test("each message of a job carries its account as group, even for later attempts", async () => {
  const ctx = givenSharedQueue({ chunkRows: 10 });
  let isOver = false;
  const polling = ctx.pollUntil(() => isOver);
  const file = await sendFile(ctx, 24, ["greylisted@other.example"]);
  const batch = await sendBatch(ctx, 1);
  for (let minute = 0; minute < 10; minute++) {
    await ctx.world.sleep(60_000);
    await reconcile.run(ctx.world);
  }
  isOver = true;
  await polling;

  const groups = new Map([file, batch].map(({ job, account }) => [job, account]));
  const chunks = ctx.sqs.received.filter(({ queue }) => queue === "chunks");
  expect(chunks).toHaveLength(3 + 1 + 1);
  for (const { group, body } of chunks) expect(group).toBe(groups.get(JSON.parse(body).job));
});

test("the message of a single verification that became a job carries its account", async () => {
  const ctx = givenSharedQueue();
  const { account, liveKey } = await ctx.open("Single");
  await whenVerified(ctx.world, liveKey, { email: "slow@slow.example" });

  expect(ctx.sqs.receive("singles", 10).Records).toHaveLength(1);
  expect(ctx.sqs.received.map(({ group }) => group)).toEqual([account]);
});

test("SQS delivers again only the failed message of a batch of several accounts, in its group", async () => {
  const ctx = givenSharedQueue();
  const handled: unknown[] = [];
  let failures = 0;
  const worker: Worker<typeof ctx.world> = {
    needs: [],
    lambda: { batch: 1, concurrency: 1 },
    queue: { name: "singles", visibilitySeconds: 30, receivesMax: 3, concurrency: 10 },
    handle: async (_world, body) => {
      if (body === "b0" && failures++ === 0) throw new Error("this cannot be done now");
      handled.push(body);
    },
  };
  const groups = ["a", "a", "b", "b", "c"];
  await ctx.world.queue.sendMany(
    "singles",
    groups.map((group, n) => ({ body: `${group}${n % 2}`, group })),
  );
  let isOver = false;
  const batch = workerSpecs.find(({ queue }) => queue === "singles")?.batch;
  const polling = ctx.pollUntil(() => isOver, worker, batch);
  await ctx.world.sleep(60_000);
  isOver = true;
  await polling;

  expect(ctx.sqs.count()).toBe(0);
  expect(handled).toEqual(["a0", "a1", "b1", "c0", "b0"]);
  expect(ctx.sqs.received.map(({ group }) => group)).toEqual([...groups, "b"]);
});

test("a group counts as noisy from 30 messages in flight on, with more than a tenth of all", async () => {
  const receiveNext = async (inFlight: number): Promise<string | undefined> => {
    const { world, sqs } = givenSharedQueue({ measures: { ...AWS_MEASURES, byTime: false } });
    const noisy = Array.from({ length: inFlight + 1 }, () => ({ body: "noisy", group: "n" }));
    await world.queue.sendMany("chunks", noisy);
    sqs.receive("chunks", inFlight);
    await world.queue.sendMany("chunks", [{ body: "quiet", group: "q" }]);
    return sqs.receive("chunks", 1).Records[0]?.body;
  };

  expect([await receiveNext(29), await receiveNext(30)]).toEqual(['"noisy"', '"quiet"']);
});
