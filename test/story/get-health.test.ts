import { expect, test } from "vitest";
import { givenWorld } from "../given.ts";
import { send } from "../send.ts";

const never = () => new Promise<never>(() => {});
const broken = () => Promise.reject(new Error("the disk is gone"));
const chunks = { name: "chunks", visibilitySeconds: 1, receivesMax: 1, atOnce: 10 };

test("a service in order is 200 and healthy, without a key and without an envelope", async () => {
  const { world } = givenWorld();

  expect(await send(world, "GET /health")).toMatchObject({
    status: "healthy",
    timestamp: "2026-11-21T00:00:00.000Z",
    service: "mailproof",
    version: "0.0.0-test",
    checks: { table: "ok", queue: "ok", blobs: "ok" },
  });
});

test("dead letters that wait are 200 and degraded", async () => {
  const { world, queue, later } = givenWorld();
  await queue.sendMany("chunks", [{ body: 1 }]);
  await queue.receive(chunks, { waitMs: 0 });
  later(1_000);
  await queue.receive(chunks, { waitMs: 0 });

  const answer = await send(world, "GET /health");

  expect(answer).toMatchObject({ status: "degraded", checks: { queue: "dead_letters_waiting" } });
  expect(answer.statusCode).toBe(200);
});

test.each([
  ["the table", { table: { get: broken } }, { table: "failed" }],
  ["the queue", { queue: { countDead: broken } }, { queue: "failed" }],
  ["the store of files", { blobs: { head: broken } }, { blobs: "failed" }],
  ["a table that never answers", { table: { get: never } }, { table: "failed" }],
  ["a queue that never answers", { queue: { countDead: never } }, { queue: "failed" }],
])("%s out of order is 503 and degraded, in the same shape", async (_, fault, checks) => {
  const { world, logged } = givenWorld();
  const faulty = {
    ...world,
    table: { ...world.table, ...("table" in fault && fault.table) },
    queue: { ...world.queue, ...("queue" in fault && fault.queue) },
    blobs: { ...world.blobs, ...("blobs" in fault && fault.blobs) },
  };

  const answer = await send(faulty, "GET /health");

  expect(answer).toMatchObject({ status: "degraded", service: "mailproof", checks });
  expect(answer.statusCode).toBe(503);
  expect(answer).not.toHaveProperty("error");
  expect(logged.map(({ event }) => event)).toEqual(["probe_failed"]);
});
