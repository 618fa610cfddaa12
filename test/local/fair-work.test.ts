import type { Message } from "@mailproof/core/ports/queue";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { LocalWorld } from "@mailproof/local/app";
import { runBackground } from "@mailproof/local/server/background";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";

const rows = {
  name: "rows",
  visibilitySeconds: 60,
  receivesMax: 3,
  concurrency: 10,
  concurrencyWhenBusy: 10,
};

/** A worker whose messages stay in hand until they are let go. */
const givenWorker = () => {
  const { world } = givenWorld();
  const queue = createSqliteQueue(":memory:", () => new Date());
  const local: LocalWorld = {
    ...world,
    table: createSqliteTable(":memory:", world.now),
    queue,
    hasMemory: () => true,
  };
  const stopping = new AbortController();
  const inHand: string[] = [];
  const letGo: (() => void)[] = [];
  let changed = Promise.withResolvers<void>();
  const worker: Worker = {
    needs: [],
    lambda: { batch: 1, concurrency: 1 },
    queue: rows,
    handle: (_world, body) => {
      inHand.push(body as string);
      changed.resolve();
      return stopping.signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => letGo.push(resolve));
    },
  };
  const run = () => runBackground(local, { workers: [worker], schedules: [] }, stopping.signal);
  const untilInHand = async (count: number): Promise<readonly string[]> => {
    while (inHand.length < count) {
      await changed.promise;
      changed = Promise.withResolvers();
    }
    return inHand;
  };
  const send = (count: number, message: Omit<Message, "body">) =>
    queue.sendMany(
      rows.name,
      Array.from({ length: count }, (_, n) => ({ body: `${message.group}${n}`, ...message })),
    );
  const stop = () => {
    stopping.abort();
    for (const one of letGo) one();
  };
  return { send, run, untilInHand, letGo, stop };
};

const getCount = (group: string, inHand: readonly string[]): number =>
  inHand.filter((body) => body.startsWith(group)).length;

test("an account with endless messages leaves half of the capacity to others", async () => {
  const { send, run, untilInHand, stop } = givenWorker();
  await send(30, { group: "slow" });
  const ended = run();
  await untilInHand(5);

  await send(1, { group: "other" });
  const inHand = await untilInHand(6);

  expect([getCount("slow", inHand), getCount("other", inHand)]).toEqual([5, 1]);
  stop();
  await ended;
});

test("the shares of accounts count weight, so a few small messages do not delay a large one", async () => {
  const { send, run, untilInHand, stop } = givenWorker();
  await send(4, { group: "small" });
  const ended = run();
  await untilInHand(4);

  await send(2, { group: "large", weight: 3 });
  const inHand = await untilInHand(5);

  expect(getCount("large", inHand)).toBe(1);
  stop();
  await ended;
});

test("an account at its share continues when one of its messages ends", async () => {
  const { send, run, untilInHand, letGo, stop } = givenWorker();
  await send(6, { group: "slow" });
  const ended = run();
  await untilInHand(5);

  letGo[0]?.();

  expect(await untilInHand(6)).toHaveLength(6);
  stop();
  await ended;
});

test("messages without a group use all free capacity", async () => {
  const { send, run, untilInHand, stop } = givenWorker();
  await send(10, {});
  const ended = run();

  expect(await untilInHand(10)).toHaveLength(10);
  stop();
  await ended;
});
