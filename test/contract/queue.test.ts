import type { Queue, QueueReceiver } from "@mailproof/core/ports/queue";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { expect, test } from "vitest";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createQueues } from "../aws/resources.ts";
import { createSqsReceiving } from "../aws/sqs-receiving.ts";
import { type Adapters, describeAdapters } from "../runner/describe-when.ts";
import { memoryQueue } from "../simulation/memory-queue.ts";

// One behaviour for every queue.
type QueueAdapter = Queue & QueueReceiver;
type OpenAt = (now: () => Date) => QueueAdapter | Promise<QueueAdapter>;

const openSqs: OpenAt = async (now) => {
  const aws = await createEmulatedAws({ now });
  const urls = await createQueues(aws, [chunks, other]);
  return { ...createSqsQueue(aws, urls), ...createSqsReceiving(aws, async () => urls) };
};

const chunks = { name: "chunks", visibilitySeconds: 30, receivesMax: 3, concurrency: 10 };
const other = { ...chunks, name: "other" };
const AT_ONCE = { waitMs: 0 };

const adapters: Adapters<OpenAt> = [
  ["on memory", memoryQueue],
  ["on sqlite", (now) => createSqliteQueue(":memory:", now)],
  ["on sqs", openSqs, DYNAMODB],
];

describeAdapters("queue", adapters, (openAt) => {
  const givenQueue = async (bodies: readonly number[] = []) => {
    let ms = Date.UTC(2026, 10, 21);
    const queue = await openAt(() => new Date(ms));
    const later = (seconds: number) => void (ms += seconds * 1000);
    const bodiesNow = async (queueSettings = chunks) =>
      (await queue.receive(queueSettings, AT_ONCE)).map(({ body }) => body);
    const sent = queue.sendMany(
      "chunks",
      bodies.map((body) => ({ body })),
    );
    return { queue, later, bodiesNow, sent };
  };

  test("a receiver gets a sent message once, whole, from its own queue", async () => {
    const { queue, bodiesNow } = await givenQueue();
    const body = { job: "job_1", chunk: 3, note: "ü", none: null };

    expect(await queue.sendMany("chunks", [{ body }])).toEqual(["sent"]);

    expect(await bodiesNow(other)).toEqual([]);
    expect(await bodiesNow()).toEqual([body]);
    expect(await bodiesNow()).toEqual([]);
  });

  test("the queue delivers at most ten messages at a time", async () => {
    const { bodiesNow, sent } = await givenQueue(Array.from({ length: 25 }, (_row, n) => n));
    await sent;

    const pages = [await bodiesNow(), await bodiesNow(), await bodiesNow()];

    expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
    expect(new Set(pages.flat()).size).toBe(25);
  });

  test("a finished message never returns", async () => {
    const { queue, later, bodiesNow, sent } = await givenQueue([1]);
    await sent;
    const [message] = await queue.receive(chunks, AT_ONCE);

    expect(await queue.acknowledge(message?.receipt ?? "")).toBe(true);

    later(1_000);
    expect(await bodiesNow()).toEqual([]);
  });

  test("the queue repeats a message that its worker does not finish in time, and counts the receives", async () => {
    const { queue, later, bodiesNow, sent } = await givenQueue([1]);
    await sent;
    await bodiesNow();

    later(29);
    expect(await bodiesNow()).toEqual([]);
    later(1);

    expect(await queue.receive(chunks, AT_ONCE)).toMatchObject([{ body: 1, receiveCount: 2 }]);
  });

  test("the receipt of an earlier receive neither ends nor delays the later one", async () => {
    const { queue, later, sent } = await givenQueue([1]);
    await sent;
    const [early] = await queue.receive(chunks, AT_ONCE);
    later(30);
    const [late] = await queue.receive(chunks, AT_ONCE);

    expect(await queue.acknowledge(early?.receipt ?? "")).toBe(false);
    expect(await queue.requeue(early?.receipt ?? "", 900)).toBe(false);
    expect(await queue.acknowledge(late?.receipt ?? "")).toBe(true);
  });

  test("a released message returns after its delay", async () => {
    const { queue, later, bodiesNow, sent } = await givenQueue([1]);
    await sent;
    const [message] = await queue.receive(chunks, AT_ONCE);
    await queue.requeue(message?.receipt ?? "", 5);

    later(4);
    expect(await bodiesNow()).toEqual([]);
    later(1);
    expect(await bodiesNow()).toEqual([1]);
  });

  test("a delayed message stays invisible before its time", async () => {
    const { queue, later, bodiesNow } = await givenQueue();
    await queue.sendMany("chunks", [{ body: 1, delaySeconds: 900 }]);

    later(899);
    expect(await bodiesNow()).toEqual([]);
    later(1);
    expect(await bodiesNow()).toEqual([1]);
  });

  test("a poison message becomes a dead letter, and the queue still delivers the others", async () => {
    const { queue, later, bodiesNow, sent } = await givenQueue([1]);
    await sent;
    for (let receive = 0; receive < chunks.receivesMax; receive++) {
      expect(await bodiesNow()).toEqual([1]);
      later(30);
    }
    expect(await queue.countDeadLetters()).toBe(0);
    await queue.sendMany("chunks", [{ body: 2 }]);

    expect(await bodiesNow()).toEqual([2]);
    expect(await queue.countDeadLetters()).toBe(1);
  });

  test("a message keeps its group, weight and order, and arrives whole", async () => {
    const { queue, bodiesNow } = await givenQueue();
    const share = { group: "acc_1", weight: 500, order: 300_000, isLowPriority: true };

    expect(await queue.sendMany("chunks", [{ body: 1, ...share }])).toEqual(["sent"]);

    expect(await bodiesNow()).toEqual([1]);
  });

  test.each([
    ["a delay of more than 15 minutes", { body: 1, delaySeconds: 901 }, "0 to 900 s"],
    ["a delay that is no number", { body: 1, delaySeconds: Number.NaN }, "0 to 900 s"],
    ["a body of more than a mebibyte", { body: "x".repeat(1_048_575) }, "over 1048576 bytes"],
  ])("the queue refuses %s, as SQS does", async (_case, message, words) => {
    const { queue, bodiesNow } = await givenQueue();

    await expect(queue.sendMany("chunks", [{ body: 0 }, message])).rejects.toThrow(words);
    expect(await bodiesNow()).toEqual([]);
  });
});

test.each([
  ["sent", 0],
  ["held back", 900],
])(
  "a receiver gets at once a message that was %s before the clock jumped back",
  async (_, delaySeconds) => {
    let ms = Date.UTC(2026, 10, 21);
    const queue = createSqliteQueue(":memory:", () => new Date(ms));
    await queue.sendMany("chunks", [{ body: 1, delaySeconds }]);

    ms -= 2 * 3_600_000;

    expect(await queue.receive(chunks, AT_ONCE)).toMatchObject([{ body: 1 }]);
  },
);

test("the queue repeats a message in work when the clock jumps back, and the message ends once", async () => {
  let ms = Date.UTC(2026, 10, 21);
  const queue = createSqliteQueue(":memory:", () => new Date(ms));
  await queue.sendMany("chunks", [{ body: 1 }]);
  const [first] = await queue.receive(chunks, AT_ONCE);

  ms -= 2 * 3_600_000;
  const [second] = await queue.receive(chunks, AT_ONCE);

  expect(await queue.acknowledge(first?.receipt ?? "")).toBe(false);
  expect(await queue.acknowledge(second?.receipt ?? "")).toBe(true);
});

test("a sent message, and not a timer, wakes a waiting receiver", async () => {
  const queue = createSqliteQueue(":memory:", () => new Date());
  const received = queue.receive(chunks, { waitMs: 600_000 });
  await queue.sendMany("other", [{ body: 1 }]);
  await queue.sendMany("chunks", [{ body: 2 }]);

  expect(await received).toMatchObject([{ body: 2 }]);
});

test("a waiting receiver stops at its abort signal", async () => {
  const queue = createSqliteQueue(":memory:", () => new Date());
  const stopping = new AbortController();
  const received = queue.receive(chunks, { waitMs: 600_000, signal: stopping.signal });
  stopping.abort();

  expect(await received).toEqual([]);
});
