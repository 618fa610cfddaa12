import { setImmediate } from "node:timers/promises";
import type { Requester } from "@mailproof/core/smtp-pool/requester";
import {
  createCallersFirst,
  HALF_FORGOTTEN_MS,
  LINGER_MS,
  LIST_SHARE,
  LIST_SHARE_SPAN_MS,
  SHORT_LIST_MS,
  SHORT_LIST_SLICE_MS,
  SLICE_MS,
} from "@mailproof/local/server/callers-first";
import { expect, test } from "vitest";

// Lists share the processor time with callers. The clock moves with the work alone, and the test turns the event loop.

const FILE: Requester = { account: "file", priority: "list" };
const BATCH: Requester = { account: "batch", priority: "list" };
const CALLER: Requester = { account: "caller", priority: "caller" };

const MORE_THAN_SHARE_MS = 2 * LIST_SHARE * LIST_SHARE_SPAN_MS;

const givenLoop = () => {
  let nowMs = 0;
  let waiting: (() => void)[] = [];
  const callers = createCallersFirst({
    nowMs: () => nowMs,
    nextTurn: (work) => void waiting.push(work),
  });
  const done: Requester[] = [];

  /** Steps of so much work each. */
  const beginAs =
    (kind?: "session") =>
    (requester: Requester, steps: number, costMs: number): void => {
      for (let step = 0; step < steps; step++)
        void callers.yieldToCallers(requester, kind)?.then(() => {
          nowMs += costMs;
          done.push(requester);
        });
    };
  const [begin, beginSession] = [beginAs(), beginAs("session")];
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
  /** A caller is here, and the file has had more than a short list, but not lately. */
  const givenLongFile = async () => {
    const leave = callers.enter();
    begin(FILE, 1, SHORT_LIST_MS);
    await turn();
    pass(2 * LIST_SHARE_SPAN_MS);
    return leave;
  };
  return { ...callers, begin, beginSession, turn, pass, givenLongFile };
};

test("without a caller the steps of a list begin at once", () => {
  const { yieldToCallers } = givenLoop();

  expect(yieldToCallers(FILE)).toBeUndefined();
});

test("callers never wait", () => {
  const { enter, yieldToCallers } = givenLoop();
  enter();

  expect(yieldToCallers(CALLER)).toBeUndefined();
  expect(yieldToCallers(undefined)).toBeUndefined();
});

test("while a caller is here, a list takes one slice of each turn", async () => {
  const { givenLongFile, begin, turn } = givenLoop();
  await givenLongFile();
  begin(FILE, 10, SLICE_MS / 4);

  expect(await turn()).toHaveLength(4);
  expect(await turn()).toHaveLength(4);
  expect(await turn()).toHaveLength(2);
  expect(await turn()).toHaveLength(0);
});

test("during a request lists that have had their share of the time take one step of each turn, until it is theirs again", async () => {
  const { givenLongFile, begin, turn, pass } = givenLoop();
  await givenLongFile();
  begin(FILE, 1, MORE_THAN_SHARE_MS);
  await turn();
  begin(FILE, 100, SLICE_MS / 4);

  expect(await turn()).toHaveLength(1);
  expect(await turn()).toHaveLength(1);

  pass(LIST_SHARE_SPAN_MS);
  expect(await turn()).toHaveLength(4);
});

test("beside requests without end lists have their share, however long the turns are", async () => {
  const { givenLongFile, begin, turn, pass } = givenLoop();
  await givenLongFile();
  begin(FILE, 10_000, SLICE_MS / 4);
  const [turns, turnMs] = [1_000, 2.5];
  let steps = 0;
  for (let n = 0; n < turns; n++) {
    pass(turnMs - SLICE_MS);
    steps += (await turn()).length;
  }

  const share = (steps * (SLICE_MS / 4)) / (turns * turnMs);
  expect(share).toBeGreaterThan(0.9 * LIST_SHARE);
});

test("however much lists have had between requests, they have their share again after a moment", async () => {
  const { givenLongFile, enter, begin, turn, pass } = givenLoop();
  const leave = await givenLongFile();
  leave();
  begin(FILE, 2_000, SLICE_MS / 4);
  for (let turns = 0; turns < 400; turns++) await turn();
  enter();
  expect(await turn()).toHaveLength(1);

  pass(2 * LIST_SHARE_SPAN_MS);
  expect(await turn()).toHaveLength(4);
});

test("what lists did not use of their share earlier is lost", async () => {
  const { enter, begin, turn, pass } = givenLoop();
  enter();
  begin(FILE, 1, 4 * SHORT_LIST_MS);
  await turn();
  pass(10 * LIST_SHARE_SPAN_MS);
  begin(FILE, 1, MORE_THAN_SHARE_MS);
  await turn();
  begin(FILE, 100, SLICE_MS / 4);

  expect(await turn()).toHaveLength(1);
});

test("between two requests lists have whole slices, whatever they have had", async () => {
  const { givenLongFile, begin, turn } = givenLoop();
  const leave = await givenLongFile();
  begin(FILE, 1, MORE_THAN_SHARE_MS);
  await turn();
  begin(FILE, 100, SLICE_MS / 4);
  expect(await turn()).toHaveLength(1);

  leave();
  expect(await turn()).toHaveLength(4);
});

test("steps that come later have their turns, too", async () => {
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

test("what follows a step at once is part of it", async () => {
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
  begin(BATCH, 10, SHORT_LIST_SLICE_MS / 4);
  expect(await turn()).toHaveLength(4);

  pass(10);
  expect(await turn()).toHaveLength(4);

  begin(BATCH, 1, SHORT_LIST_MS);
  while ((await turn()).length > 0);
  pass(2 * LIST_SHARE_SPAN_MS);
  begin(BATCH, 10, SLICE_MS / 4);
  expect(await turn()).toHaveLength(4);
});

test("accounts that have had as much take turns", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 100, SHORT_LIST_SLICE_MS / 4);
  begin(BATCH, 100, SHORT_LIST_SLICE_MS / 4);

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

test("what counts is the time of the steps, not their number", async () => {
  const { enter, begin, turn } = givenLoop();
  enter();
  begin(FILE, 2, SHORT_LIST_SLICE_MS / 2);
  begin(BATCH, 10, SHORT_LIST_SLICE_MS / 8);

  expect(await turn()).toEqual([FILE, BATCH, BATCH, BATCH, BATCH]);
});

test("a session of a long list goes on before the rows of a short one, for others may wait for its mail host", async () => {
  const { givenLongFile, begin, beginSession, turn } = givenLoop();
  await givenLongFile();
  begin(BATCH, 3, SLICE_MS / 4);
  beginSession(FILE, 1, SLICE_MS / 4);

  expect(await turn()).toEqual([FILE, BATCH, BATCH, BATCH]);
});

test("among sessions, too, the list that has had the least is next", async () => {
  const { givenLongFile, beginSession, turn } = givenLoop();
  await givenLongFile();
  beginSession(FILE, 2, SLICE_MS / 4);
  beginSession(BATCH, 2, SLICE_MS / 4);

  expect(await turn()).toEqual([BATCH, BATCH, FILE, FILE]);
});

test("half of the time that a list has had is forgotten each second", async () => {
  const { givenLongFile, begin, turn, pass } = givenLoop();
  await givenLongFile();
  pass(HALF_FORGOTTEN_MS);
  begin(FILE, 100, SHORT_LIST_SLICE_MS / 4);

  expect(await turn()).toHaveLength(4);
});

test("a caller is here from its request until a moment after its response", () => {
  const { enter, yieldToCallers, pass } = givenLoop();
  const leaveFirst = enter();
  const leaveLast = enter();
  leaveFirst();
  pass(10 * LINGER_MS);
  expect(yieldToCallers(FILE)).toBeInstanceOf(Promise);

  leaveLast();
  pass(LINGER_MS - 1);
  expect(yieldToCallers(FILE)).toBeInstanceOf(Promise);

  pass(1);
  expect(yieldToCallers(FILE)).toBeUndefined();
});

test("steps that wait go on when the callers have left", async () => {
  const { enter, begin, turn, pass } = givenLoop();
  const leave = enter();
  begin(FILE, 8, SLICE_MS / 4);
  leave();
  pass(10 * LINGER_MS);

  expect([...(await turn()), ...(await turn())]).toHaveLength(8);
});
