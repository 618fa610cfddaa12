import type { AppWorld } from "@mailproof/core/app-world";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { LocalWorld } from "@mailproof/local/app";
import { runBackground } from "@mailproof/local/server/background";
import { createSweeper } from "@mailproof/local/server/sweepers";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, onTestFinished, test } from "vitest";
import { givenWorld } from "../app/given.ts";

const chunks = { name: "chunks", visibilitySeconds: 1, receivesMax: 3, concurrency: 10 };

const givenContext = () => {
  const { world, logged, later } = givenWorld();
  let aheadMs = 0;
  const queue = createSqliteQueue(":memory:", () => new Date(Date.now() + aheadMs));
  const goAhead = (ms: number) => {
    aheadMs += ms;
  };
  const table = createSqliteTable(":memory:", world.now);
  const stopping = new AbortController();
  const local: LocalWorld = { ...world, table, queue, hasMemory: () => true };
  return { local, queue, table, logged, later, goAhead, stopping };
};

/** Runs until the worker has been called so often, and then until it has ended. */
const whenWorked = async (
  { local, stopping }: ReturnType<typeof givenContext>,
  calls: number,
  handle: (world: AppWorld, body: unknown, call: number) => Promise<void>,
) => {
  const seen: unknown[] = [];
  const worker: Worker<AppWorld> = {
    needs: [],
    lambda: { batch: 1, concurrency: 1 },
    queue: chunks,
    handle: async (world, body) => {
      seen.push(body);
      if (seen.length === calls) stopping.abort();
      await handle(world, body, seen.length);
    },
  };
  await runBackground(local, { workers: [worker], schedules: [] }, stopping.signal);
  return seen;
};

test("a worker handles a message once and then removes it", async () => {
  const ctx = givenContext();
  await ctx.queue.sendMany("chunks", [{ body: { n: 1 } }]);

  expect(await whenWorked(ctx, 1, async () => {})).toEqual([{ n: 1 }]);
  expect(await ctx.queue.receive(chunks, { waitMs: 0 })).toEqual([]);
});

test("a failed message returns to the queue and does not delay its neighbours", async () => {
  const ctx = givenContext();
  await ctx.queue.sendMany("chunks", [{ body: "bad" }, { body: "good" }]);

  const seen = await whenWorked(ctx, 3, async (_world, body, call) => {
    if (body === "bad" && call < 3) throw new Error("not this time");
  });

  expect(seen).toEqual(["bad", "good", "bad"]);
  expect(ctx.logged.map(({ event }) => event)).toEqual(["message_failed"]);
});

/** A thread that has something to do all the time. */
const givenBusyThread = (): void => {
  let isOver = false;
  const burn = (): void => {
    const until = performance.now() + 5;
    while (performance.now() < until);
    if (!isOver) setImmediate(burn);
  };
  burn();
  onTestFinished(() => {
    isOver = true;
  });
};

test.each([
  ["that only wait for other servers", { concurrencyWhenBusy: 30 }],
  ["that need memory while memory is free", { isBoundByMemory: true }],
])("the worker loop hands out many messages %s, however busy the thread is", async (_, limits) => {
  const { local, queue, stopping } = givenContext();
  givenBusyThread();
  const calls = { ...chunks, name: "calls", concurrency: 30, ...limits };
  await queue.sendMany(
    "calls",
    Array.from({ length: 30 }, (_, body) => ({ body })),
  );
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let inHand = 0;
  const worker: Worker<AppWorld> = {
    needs: [],
    lambda: { batch: 1, concurrency: 1 },
    queue: calls,
    handle: async () => {
      if (++inHand === calls.concurrency) resolve();
      await all;
    },
  };
  void all.then(() => stopping.abort());

  await runBackground(local, { workers: [worker], schedules: [] }, stopping.signal);

  expect(inHand).toBe(30);
});

test("the worker loop gives an idle account one message on a busy thread, and a working account no further one", async () => {
  const { local, queue, stopping } = givenContext();
  const of = (group: string, count: number) =>
    Array.from({ length: count }, () => ({ body: group, group }));
  await queue.sendMany("chunks", of("acc_file", 8));
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const inHand: unknown[] = [];
  const worker: Worker<AppWorld> = {
    needs: [],
    lambda: { batch: 1, concurrency: 1 },
    queue: chunks,
    handle: async (_world, body) => {
      inHand.push(body);
      if (inHand.length === 2) {
        // From now on the thread has no time, and the two wait for their mail servers.
        givenBusyThread();
        await queue.sendMany("chunks", [...of("acc_file", 8), ...of("acc_batch", 2)]);
      }
      if (body === "acc_batch") setTimeout(resolve, 200);
      await all;
    },
  };
  void all.then(() => stopping.abort());

  await runBackground(local, { workers: [worker], schedules: [] }, stopping.signal);

  expect(inHand.filter((group) => group === "acc_batch")).toHaveLength(1);
  expect(inHand.filter((group) => group === "acc_file").length).toBeLessThanOrEqual(3);
});

test("a stop waits for the messages under way", async () => {
  const ctx = givenContext();
  await ctx.queue.sendMany("chunks", [{ body: 1 }]);
  let finished = false;

  await whenWorked(ctx, 1, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    finished = true;
  });

  expect(finished).toBe(true);
});

test("a schedule runs at the start and again after a failure", async () => {
  const { local, stopping, logged } = givenContext();
  let runs = 0;
  const schedule = {
    name: "reconcile",
    everySeconds: 0,
    run: async () => {
      if (++runs === 2) stopping.abort();
      throw new Error("not this time");
    },
  };

  await runBackground(local, { workers: [], schedules: [schedule] }, stopping.signal);

  expect(runs).toBe(2);
  expect(logged.map(({ fields }) => fields["schedule"])).toEqual(["reconcile", "reconcile"]);
});

test("the sweeper deletes expired items and keeps all others", async () => {
  const { local, table, later } = givenContext();
  const soon = Math.floor(local.now().getTime() / 1000) + 60;
  for (let n = 0; n < 2_500; n++)
    await table.write({ put: { pk: "P", sk: `old${n}`, expires_at: soon } });
  await table.write({ put: { pk: "P", sk: "kept", expires_at: soon + 1 } });
  await table.write({ put: { pk: "P", sk: "for ever" } });
  later(60_000);

  await createSweeper(table).run(local);

  expect(await table.sweep(10)).toBe(0);
  expect((await table.query({ pk: "P", limit: 10 })).items.map(({ sk }) => sk)).toEqual([
    "for ever",
    "kept",
  ]);
});
