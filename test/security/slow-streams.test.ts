import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { PassThrough } from "node:stream";
import { buffer, json } from "node:stream/consumers";
import { BYTES_PER_SECOND_MIN, createPace, GRACE_MS } from "@mailproof/local/server/pace";
import { readUpTo } from "@mailproof/local/server/request-body";
import { expect, test } from "vitest";
import { createFakeStreamEndpoint } from "../app/fake-endpoints.ts";
import { startServer } from "../servers/listening.ts";

// Goal: what a client sends or takes too slowly, or many times at once, holds no slot for long.
// Method: downloads that are counted while no client reads them; bodies against a clock that the test moves.

const PIECE = Buffer.alloc(1_000_000, "x");

/** Endless, and counts how many of it are open. */
const openStreams = () => {
  const counts = { open: 0 };
  async function* pieces() {
    counts.open++;
    try {
      for (;;) yield PIECE;
    } finally {
      counts.open--;
    }
  }
  return { counts, route: createFakeStreamEndpoint(pieces) };
};

const ask = async (port: number, key: string) => {
  const clientRequest = request({
    port,
    path: "/v1/sample/stream",
    headers: { "x-api-key": key },
    agent: false,
  });
  clientRequest.on("error", () => undefined).end();
  const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];
  answer.on("error", () => undefined);
  return { answer, asking: clientRequest };
};

test("an account may read twenty downloads at a time", async () => {
  const { counts, route } = openStreams();
  const { port, liveKey, testKey } = await startServer([route]);
  const downloads = await Promise.all(Array.from({ length: 20 }, () => ask(port, liveKey)));

  const [next, other] = [await ask(port, liveKey), await ask(port, testKey)];
  const refusal = await json(next.answer);
  expect([next.answer.statusCode, other.answer.statusCode]).toEqual([429, 429]);
  expect(next.answer.headers["retry-after"]).toBe("10");
  expect(refusal).toMatchObject({ error: { code: "RATE_LIMITED", money: "nothing_charged" } });
  expect(counts.open).toBe(20);

  downloads[0]?.asking.destroy();
  while (counts.open > 19) await new Promise(setImmediate);
  expect((await ask(port, liveKey)).answer.statusCode).toBe(200);
});

test("the server ends a download that its client does not read, and closes its source", async () => {
  const { counts, route } = openStreams();
  const { port, liveKey } = await startServer([route], { stallMs: 100 });

  const { answer, asking: clientRequest } = await ask(port, liveKey);
  expect(counts.open).toBe(1);
  while (counts.open > 0) await new Promise(setImmediate);

  clientRequest.destroy();
  await expect(buffer(answer)).rejects.toThrow("aborted");
});

const paceWithClock = () => {
  let ms = 0;
  const pace = createPace(() => ms);
  const wait = (more: number) => pace.waitFor(Promise.resolve().then(() => (ms += more)));
  return { pace, wait, later: (more: number) => (ms += more) };
};

test("a client counts as slow by the time spent waiting for it, after a grace period", async () => {
  const { pace, wait, later } = paceWithClock();
  later(3_600_000);
  await wait(GRACE_MS);
  expect(pace.isTooSlow()).toBe(false);
  await wait(1);
  expect(pace.isTooSlow()).toBe(true);
  pace.addBytes((BYTES_PER_SECOND_MIN * GRACE_MS) / 1_000 + 5);
  expect(pace.isTooSlow()).toBe(false);
});

test("the server refuses a body that trickles and reads a fast one", async () => {
  const read = async (bytesEachSecond: number) => {
    let ms = 0;
    const body = Object.assign(new PassThrough(), { headers: {} });
    const source = readUpTo(
      50_000_000,
      body as unknown as IncomingMessage,
      () => new Error("too large"),
      undefined,
      createPace(() => ms),
    );
    let bytes = 0;
    for (let second = 0; second < 120; second++) {
      const next = source.next();
      ms += 1_000;
      body.write(Buffer.alloc(bytesEachSecond));
      bytes += (await next).value?.length ?? 0;
    }
    return bytes;
  };

  await expect(read(100)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    money: "nothing_charged",
    message: expect.stringContaining("5000 bytes a second"),
  });
  expect(await read(6_000)).toBe(720_000);
});
