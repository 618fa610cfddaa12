import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { drainBody } from "@mailproof/local/server/request-body";
import { expect, test } from "vitest";

const BODIES = 20;
const READS = 10;

/** So many reads are there at once. */
const createBody = (onRead: () => void): IncomingMessage => {
  const body = new Readable({ read: () => undefined, highWaterMark: 1 });
  for (let n = 0; n < READS; n++) body.push(Buffer.alloc(1_000));
  body.push(null);
  body.on("data", onRead);
  return Object.assign(body, { complete: false }) as unknown as IncomingMessage;
};

test("of all bodies that are drained, each turn of the event loop takes one read", async () => {
  const reads: number[] = [0];
  const count = () => void reads.push((reads.pop() ?? 0) + 1);
  let isOver = false;
  const beginTurn = (): void => {
    reads.push(0);
    if (!isOver) setImmediate(beginTurn);
  };
  setImmediate(beginTurn);

  const bodies = Array.from({ length: BODIES }, () => createBody(count));
  const drained = await Promise.all(bodies.map(drainBody));
  isOver = true;

  // The first read of each is there when it is asked for.
  const [first = 0, ...turns] = reads.filter((count) => count > 0);
  expect(drained).toEqual(bodies.map(() => true));
  expect([first, Math.max(...turns), turns.length]).toEqual([BODIES, 1, BODIES * (READS - 1)]);
});
