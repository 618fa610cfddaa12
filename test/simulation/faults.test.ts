import { expect, test } from "vitest";
import { streamPieces } from "../app/form.ts";
import { givenWorld } from "../app/given.ts";
import { createFaultyBlobs, createFaultyQueue } from "./faults.ts";
import { createRandom } from "./random.ts";

// The faults themselves are held to what they claim: a simulation proves nothing over a network that lies in
// ways no network can.

const chunks = { name: "chunks", visibilitySeconds: 30, receivesMax: 9, concurrency: 10 };
const bodies = Array.from({ length: 10 }, (_row, body) => ({ body }));

test("a queue under faults reports truthfully what it sent and refused, and doubles, loses and reorders the rest", async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 200; seed++) {
    const { queue } = givenWorld();
    const outcomes = await createFaultyQueue(queue, createRandom(seed), 0.2).sendMany(
      "chunks",
      bodies,
    );
    const arrived = [
      ...(await queue.receive(chunks, { waitMs: 0 })),
      ...(await queue.receive(chunks, { waitMs: 0 })),
    ].map(({ body }) => body);
    for (const [body, outcome] of outcomes.entries())
      seen.add(`${outcome}, ${arrived.filter((one) => one === body).length} times`);
  }

  expect([...seen].toSorted()).toEqual([
    "refused, 0 times",
    "sent, 1 times",
    "sent, 2 times",
    "unknown, 0 times",
    "unknown, 1 times",
    "unknown, 2 times",
  ]);
});

test("a queue under faults delivers messages in another order", async () => {
  const { queue } = givenWorld();
  await queue.sendMany("chunks", bodies);

  const received = await createFaultyQueue(queue, createRandom(7), 0).receive(chunks, {
    waitMs: 0,
  });

  const order = received.map(({ body }) => body);
  expect(order).not.toEqual(bodies.map(({ body }) => body));
  expect(new Set(order).size).toBe(10);
});

test("a store under faults either keeps or refuses a file, whatever the caller learns", async () => {
  const seen = new Set<string>();
  for (let seed = 0; seed < 100; seed++) {
    const { blobs } = givenWorld();
    const faulty = createFaultyBlobs(blobs, createRandom(seed), 0.4);
    const thrown = await faulty.put("a", streamPieces("x")).then(
      () => "put",
      () => "lost",
    );
    seen.add(`${thrown}, ${(await blobs.head("a")) ? "there" : "not there"}`);
  }

  expect([...seen].toSorted()).toEqual(["lost, not there", "lost, there", "put, there"]);
});
