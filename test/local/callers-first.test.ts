import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { Requester } from "@mailproof/core/smtp-pool/fairness";
import { createCallersFirst } from "@mailproof/local/server/callers-first";
import { createApiServer } from "@mailproof/local/server/server";
import { expect, onTestFinished, test } from "vitest";
import { given } from "../app/given.ts";

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

test("the steps of a list begin at once without a caller", () => {
  const { yieldToCallers } = givenLoop();

  expect(yieldToCallers(FILE)).toBeUndefined();
});

test("callers never wait", () => {
  const { enter, yieldToCallers } = givenLoop();
  enter();

  expect(yieldToCallers(CALLER)).toBeUndefined();
  expect(yieldToCallers(undefined)).toBeUndefined();
});

test("a list takes one slice of each turn while a caller waits", async () => {
  const { givenLongFile, begin, turn } = givenLoop();
  await givenLongFile();
  begin(FILE, 10, SLICE_MS / 4);

  expect(await turn()).toHaveLength(4);
  expect(await turn()).toHaveLength(4);
  expect(await turn()).toHaveLength(2);
  expect(await turn()).toHaveLength(0);
});

test("later steps have their turns", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 1, SLICE_MS / 4);
  await turn();
  begin(FILE, 2, SLICE_MS / 4);

  expect(await turn()).toHaveLength(2);
});

test("a list goes on beside callers without end, however long a step takes", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 2, 100 * SLICE_MS);

  expect(await turn()).toHaveLength(1);
  expect(await turn()).toHaveLength(1);
});

test("work that follows a step at once is part of the step", async () => {
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

test("a short list has longer slices, until it has had as much as a short list needs", async () => {
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

test("accounts that have had equal time take turns", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 100, LONG_SLICE_MS / 4);
  begin(BATCH, 100, LONG_SLICE_MS / 4);

  expect(await turn()).toEqual([FILE, BATCH, FILE, BATCH]);
});

test("a short list that comes later is done before a long one", async () => {
  const { givenLongFile, begin, turn } = givenLoop();
  await givenLongFile();
  begin(FILE, 100, SLICE_MS / 4);
  await turn();
  begin(BATCH, 3, SLICE_MS / 4);

  expect(await turn()).toEqual([BATCH, BATCH, BATCH, FILE]);
});

test("a list's share is counted by the time of its steps, not by their number", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 2, LONG_SLICE_MS / 2);
  begin(BATCH, 10, LONG_SLICE_MS / 8);

  expect(await turn()).toEqual([FILE, BATCH, BATCH, BATCH, BATCH]);
});

test("half of the time that a list has had is forgotten each second", async () => {
  const { givenLongFile, begin, turn, pass } = givenLoop();
  await givenLongFile();
  pass(HALF_FORGOTTEN_MS);
  begin(FILE, 100, LONG_SLICE_MS / 4);

  expect(await turn()).toHaveLength(4);
});

test("a caller counts from its request to its response", () => {
  const { enter, yieldToCallers } = givenLoop();
  const leaveFirst = enter();
  const leaveLast = enter();
  leaveFirst();
  expect(yieldToCallers(FILE)).toBeInstanceOf(Promise);

  leaveLast();
  expect(yieldToCallers(FILE)).toBeUndefined();
});

test("steps that wait go on in longer slices when the callers have left", async () => {
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
  ["leads nowhere", "/nowhere"],
])("a caller whose request %s enters and leaves", async (_, path) => {
  const { seen, base } = await whenServing();

  await (await fetch(base + path, { method: "POST" })).text();

  expect(seen).toEqual(["enters", "leaves"]);
});

test.each([
  ["a read", "GET", "/v1/jobs"],
  ["an upload", "PUT", "/blobs/nothing"],
])("%s is no caller: lists continue at full speed beside it", async (_, method, path) => {
  const { seen, base } = await whenServing();

  await (await fetch(base + path, { method })).text();

  expect(seen).toEqual([]);
});
