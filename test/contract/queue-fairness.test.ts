import type { Message, Queue, QueueReceiver } from "@mailproof/core/ports/queue";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { expect, test } from "vitest";
import { type Adapters, describeAdapters } from "../runner/describe-when.ts";
import { memoryQueue } from "../simulation/memory-queue.ts";

// The queues that hand out by turns. SQS has its own way of it: fair queues, by the MessageGroupId.
type QueueAdapter = Queue & QueueReceiver;
type OpenAt = (now: () => Date) => QueueAdapter;

const chunks = { name: "chunks", visibilitySeconds: 30, receivesMax: 3, concurrency: 10 };

const adapters: Adapters<OpenAt> = [
  ["on memory", memoryQueue],
  ["on sqlite", (now) => createSqliteQueue(":memory:", now)],
];

describeAdapters("fair queue", adapters, (openAt) => {
  const givenQueue = async () => {
    let ms = Date.UTC(2026, 10, 21);
    const queue = openAt(() => new Date(ms));
    const later = (seconds: number) => void (ms += seconds * 1000);
    const send = (count: number, message: Omit<Message, "body">) =>
      queue.sendMany(
        "chunks",
        Array.from({ length: count }, (_, n) => ({ body: `${message.group}${n}`, ...message })),
      );
    const receive = async (max: number, inHand?: Readonly<Record<string, number>>) => {
      const options = {
        max,
        waitMs: 0,
        ...(inHand && { inFlight: new Map(Object.entries(inHand)) }),
      };
      return (await queue.receive(chunks, options)).map(({ body }) => body);
    };
    return { queue, later, send, receive };
  };

  test("the queue's groups take turns, however many messages wait in each group", async () => {
    const { send, receive } = await givenQueue();
    await send(50, { group: "a" });
    await send(2, { group: "b" });
    await send(3, { group: "c" });

    expect(await receive(8)).toEqual(["a0", "b0", "c0", "a1", "b1", "c1", "a2", "c2"]);
  });

  test("the next receive call continues with the next group", async () => {
    const { send, receive } = await givenQueue();
    await send(9, { group: "a" });
    await send(9, { group: "b" });

    expect([await receive(1), await receive(1), await receive(1)]).toEqual([
      ["a0"],
      ["b0"],
      ["a1"],
    ]);
  });

  test("a group with a new message waits for all groups that waited since its last turn", async () => {
    const { send, receive } = await givenQueue();
    await send(5, { group: "a" });
    await send(1, { group: "b" });
    expect(await receive(2)).toEqual(["a0", "b0"]);

    await send(1, { group: "b" });

    expect(await receive(2)).toEqual(["a1", "b0"]);
  });

  test("a group delivers the message of its smallest job first", async () => {
    const { send, receive } = await givenQueue();
    await send(3, { group: "a", order: 300_000 });
    await send(1, { group: "a", order: 2 });

    expect(await receive(1)).toEqual(["a0"]);
    expect(await receive(1)).toEqual(["a0"]);
    expect(await receive(2)).toEqual(["a1", "a2"]);
  });

  test("the queue delivers a low-priority message only when no other message is visible in any group", async () => {
    const { later, send, receive } = await givenQueue();
    await send(2, { group: "t", isLowPriority: true });
    await send(1, { group: "t" });
    await send(2, { group: "a" });
    await send(1, { group: "b", delaySeconds: 5 });

    expect(await receive(4)).toEqual(["t0", "a0", "a1", "t0"]);
    later(5);
    expect(await receive(4)).toEqual(["b0", "t1"]);
  });

  test("a delayed message takes its group's turn from the moment at which it becomes visible", async () => {
    const { later, send, receive } = await givenQueue();
    await send(1, { group: "b", delaySeconds: 5 });
    await send(9, { group: "a" });
    expect(await receive(3)).toEqual(["a0", "a1", "a2"]);

    later(5);

    expect(new Set(await receive(2))).toEqual(new Set(["a3", "b0"]));
  });

  test("a released message takes its group's turn again", async () => {
    const { queue, later, send, receive } = await givenQueue();
    await send(1, { group: "b" });
    const [message] = await queue.receive(chunks, { waitMs: 0 });
    await send(9, { group: "a" });
    await queue.requeue(message?.receipt ?? "", 5);
    expect(await receive(2)).toEqual(["a0", "a1"]);

    later(5);

    expect(new Set(await receive(2))).toEqual(new Set(["a2", "b0"]));
  });

  test("a receive delivers messages until their weights reach its limit", async () => {
    const { send, receive } = await givenQueue();
    await send(5, { group: "a", weight: 500 });

    expect(await receive(1_000)).toHaveLength(2);
    expect(await receive(1)).toHaveLength(1);
  });

  test("a group that holds as much as is free waits, and gets its turn later", async () => {
    const { send, receive } = await givenQueue();
    await send(3, { group: "a" });
    await send(2, { group: "b" });

    expect(await receive(9, { a: 5 })).toEqual(["b0", "b1"]);
    expect(await receive(9, { a: 5 })).toEqual([]);
    expect(await receive(9)).toEqual(["a0", "a1", "a2"]);
  });

  test("messages of one receive count, so that a group gets no more than its share", async () => {
    const { send, receive } = await givenQueue();
    await send(20, { group: "a" });
    expect(await receive(10, {})).toHaveLength(5);

    // It has 4 in hand then, and 4 are free.
    expect(await receive(10, { a: 2, c: 2 })).toHaveLength(2);
  });

  test("a group without a message in work gets its turn, however little is free", async () => {
    const { send, receive } = await givenQueue();
    await send(1, { group: "a", weight: 500 });

    expect(await receive(1, { b: 9 })).toEqual(["a0"]);
  });

  test("a message that was received too often becomes a dead letter, and delays no turn", async () => {
    const { queue, later, send, receive } = await givenQueue();
    await send(1, { group: "a" });
    for (let n = 0; n < chunks.receivesMax; n++) {
      expect(await receive(1)).toEqual(["a0"]);
      later(30);
    }
    await send(1, { group: "b" });

    expect(await receive(9)).toEqual(["b0"]);
    expect(await queue.countDeadLetters()).toBe(1);
  });

  test("a message that its first worker ends late leaves no empty turn", async () => {
    const { queue, later, send, receive } = await givenQueue();
    await send(1, { group: "a" });
    const [message] = await queue.receive(chunks, { waitMs: 0 });
    later(30);
    expect(await receive(9, { a: 9 })).toEqual([]);

    expect(await queue.acknowledge(message?.receipt ?? "")).toBe(true);
    await send(1, { group: "b" });

    expect(await receive(9)).toEqual(["b0"]);
  });
});
