import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Message } from "@mailproof/core/ports/queue";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { Requester } from "@mailproof/core/smtp-pool/fairness";
import type { LocalWorld } from "@mailproof/local/app";
import { runBackground } from "@mailproof/local/server/background";
import { createCallersFirst } from "@mailproof/local/server/callers-first";
import { createApiServer } from "@mailproof/local/server/server";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, onTestFinished, test } from "vitest";
import { given, givenWorld } from "../app/given.ts";

const SLICE_MS = 0.5;
const LONG_SLICE_MS = 2;
const SHORT_LIST_MS = 100;
const HALF_FORGOTTEN_MS = 1_000;

// Lists share the processor time with callers. The clock moves with the work alone, and the test turns the event loop.

const FILE: Requester = { account: "file", priority: "list" };
const BATCH: Requester = { account: "batch", priority: "list" };
const CALLER: Requester = { account: "caller", priority: "caller" };

const givenLoop = () => {
  let nowMs = 0;
  let waiting: (() => void)[] = [];
  const callers = createCallersFirst({
    nowMs: () => nowMs,
    nextTurn: (work) => void waiting.push(work),
  });
  const done: Requester[] = [];

  /** Steps of so much work each. */
  const begin = (requester: Requester, steps: number, costMs: number): void => {
    for (let step = 0; step < steps; step++)
      void callers.yieldToCallers(requester)?.then(() => {
        nowMs += costMs;
        done.push(requester);
      });
  };
  /** One turn of the event loop: the steps that it took. */
  const turn = async (): Promise<readonly Requester[]> => {
    const before = done.length;
    const works = waiting;
    waiting = [];
    for (const work of works) work();
    await setImmediate();
    return done.slice(before);
  };
  const pass = (ms: number): void => void (nowMs += ms);
  /** A caller is here, and the file has had more than a short list. */
  const givenLongFile = async () => {
    callers.enter();
    begin(FILE, 1, 1.5 * SHORT_LIST_MS);
    await turn();
  };
  return { ...callers, begin, turn, pass, givenLongFile };
};

test("the steps of a list begin at once when no caller is present", () => {
  const { yieldToCallers } = givenLoop();

  expect(yieldToCallers(FILE)).toBeUndefined();
});

test("a caller's steps never wait", () => {
  const { enter, yieldToCallers } = givenLoop();
  enter();

  expect(yieldToCallers(CALLER)).toBeUndefined();
  expect(yieldToCallers(undefined)).toBeUndefined();
});

test("a list receives one slice of each turn while a caller waits", async () => {
  const { givenLongFile, begin, turn } = givenLoop();
  await givenLongFile();
  begin(FILE, 10, SLICE_MS / 4);

  expect(await turn()).toHaveLength(4);
  expect(await turn()).toHaveLength(4);
  expect(await turn()).toHaveLength(2);
  expect(await turn()).toHaveLength(0);
});

test("the steps that a list adds later receive their turns", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 1, SLICE_MS / 4);
  await turn();
  begin(FILE, 2, SLICE_MS / 4);

  expect(await turn()).toHaveLength(2);
});

test("a list progresses beside endless callers, however long a step takes", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 2, 100 * SLICE_MS);

  expect(await turn()).toHaveLength(1);
  expect(await turn()).toHaveLength(1);
});

test("the scheduler of lists counts work directly after a step as part of the step", async () => {
  const { givenLongFile, yieldToCallers, turn, pass } = givenLoop();
  await givenLongFile();
  let ended = 0;
  const step = async (): Promise<void> => {
    await yieldToCallers(FILE);
    for (let part = 0; part < 10; part++) await Promise.resolve();
    pass(SLICE_MS);
    ended++;
  };
  void step();
  void step();

  await turn();
  expect(ended).toBe(1);
});

test("a short list receives longer slices until it used a short list's whole time", async () => {
  const { enter, begin, turn, pass } = givenLoop();
  enter();
  begin(BATCH, 10, LONG_SLICE_MS / 4);
  expect(await turn()).toHaveLength(4);

  pass(10);
  expect(await turn()).toHaveLength(4);

  begin(BATCH, 1, SHORT_LIST_MS);
  while ((await turn()).length > 0);
  begin(BATCH, 10, SLICE_MS / 4);
  expect(await turn()).toHaveLength(4);
});

test("accounts with equal used time alternate", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 100, LONG_SLICE_MS / 4);
  begin(BATCH, 100, LONG_SLICE_MS / 4);

  expect(await turn()).toEqual([FILE, BATCH, FILE, BATCH]);
});

test("a short list that arrives later ends before a long one", async () => {
  const { givenLongFile, begin, turn } = givenLoop();
  await givenLongFile();
  begin(FILE, 100, SLICE_MS / 4);
  await turn();
  begin(BATCH, 3, SLICE_MS / 4);

  expect(await turn()).toEqual([BATCH, BATCH, BATCH, FILE]);
});

test("the share of a list depends on the time of its steps, not on their number", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 2, LONG_SLICE_MS / 2);
  begin(BATCH, 10, LONG_SLICE_MS / 8);

  expect(await turn()).toEqual([FILE, BATCH, BATCH, BATCH, BATCH]);
});

test("the scheduler of lists forgets half of a list's used time each second", async () => {
  const { givenLongFile, begin, turn, pass } = givenLoop();
  await givenLongFile();
  pass(HALF_FORGOTTEN_MS);
  begin(FILE, 100, LONG_SLICE_MS / 4);

  expect(await turn()).toHaveLength(4);
});

test("the scheduler of lists counts a caller from its request to its response", () => {
  const { enter, yieldToCallers } = givenLoop();
  const leaveFirst = enter();
  const leaveLast = enter();
  leaveFirst();
  expect(yieldToCallers(FILE)).toBeInstanceOf(Promise);

  leaveLast();
  expect(yieldToCallers(FILE)).toBeUndefined();
});

test("waiting steps continue in longer slices after the callers left", async () => {
  const { enter, begin, turn } = givenLoop();
  const leave = enter();
  begin(FILE, 1, 2 * SHORT_LIST_MS);
  await turn();
  begin(FILE, 8, LONG_SLICE_MS / 8);
  leave();

  expect(await turn()).toHaveLength(8);
});

const whenServing = async () => {
  const { world } = await given();
  const seen: string[] = [];
  const enter = () => {
    seen.push("enters");
    return () => void seen.push("leaves");
  };
  const log = () => undefined;
  const yieldToCallers = () => undefined;
  const callers = { enter, yieldToCallers };
  const listening = createApiServer({ ...world, callers, log }, () => undefined).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  return { seen, base: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` };
};

test.each([
  ["is refused", "/v1/verify"],
  ["has an unknown path", "/nowhere"],
])(
  "the server counts the caller of a request that %s from its start to its end",
  async (_, path) => {
    const { seen, base } = await whenServing();

    await (await fetch(base + path, { method: "POST" })).text();

    expect(seen).toEqual(["enters", "leaves"]);
  },
);

test.each([
  ["a read", "GET", "/v1/jobs"],
  ["an upload", "PUT", "/blobs/nothing"],
])(
  "the server does not count %s as a caller, so lists continue at full speed",
  async (_, method, path) => {
    const { seen, base } = await whenServing();

    await (await fetch(base + path, { method })).text();

    expect(seen).toEqual([]);
  },
);

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
