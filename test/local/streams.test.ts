import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { expect, test } from "vitest";
import { createCountedPieces, createFakeStreamEndpoint, failAfter } from "../app/fake-endpoints.ts";
import { whenListening } from "../servers/listening.ts";

const whenRequested = async (endpoint: Endpoint) => {
  const { port, liveKey, logged } = await whenListening(endpoint);
  const clientRequest = request({
    port,
    path: "/v1/sample/stream",
    headers: { "x-api-key": liveKey },
    agent: false,
  });
  clientRequest.end();
  const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];
  return { answer, asking: clientRequest, logged };
};

test("the first piece arrives before the second is made", async () => {
  const hasArrived = Promise.withResolvers<void>();
  async function* waiting() {
    yield "first";
    await hasArrived.promise;
    yield " second";
  }
  const { answer } = await whenRequested(createFakeStreamEndpoint(waiting));

  const [piece] = (await once(answer, "data")) as [Buffer];
  hasArrived.resolve();

  expect(piece.toString()).toBe("first");
  expect((await buffer(answer)).toString()).toBe(" second");
});

test("a streamed response has the headers of its endpoint and no content-length", async () => {
  const { answer } = await whenRequested(
    createFakeStreamEndpoint(createCountedPieces(3, "x").pieces),
  );

  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": 'attachment; filename="results.csv"',
    "transfer-encoding": "chunked",
    "x-ratelimit-remaining": "599",
  });
  expect(answer.headers["content-length"]).toBeUndefined();
  expect((await buffer(answer)).toString()).toBe("xxx");
});

test("the source is read as fast as the client reads, and no faster", async () => {
  const [PIECES, PIECE_BYTES] = [600, 100_000];
  const { asked: consumed, pieces } = createCountedPieces(PIECES, Buffer.alloc(PIECE_BYTES, "x"));
  const { answer } = await whenRequested(createFakeStreamEndpoint(pieces));

  let read = 0;
  let aheadMost = 0;
  for await (const chunk of answer) {
    aheadMost = Math.max(aheadMost, consumed.pieces * PIECE_BYTES - read);
    read += (chunk as Buffer).length;
  }

  expect(read).toBe(PIECES * PIECE_BYTES);
  // What the system holds between two sockets is some megabytes; the whole would be 60.
  expect(aheadMost).toBeLessThan(30_000_000);
});

test("when the client hangs up, the source is closed and not asked to its end", async () => {
  const { asked: consumed, pieces } = createCountedPieces(1_000_000, Buffer.alloc(100_000, "x"));
  const {
    answer,
    asking: clientRequest,
    logged,
  } = await whenRequested(createFakeStreamEndpoint(pieces));

  await once(answer, "data");
  answer.on("error", () => {});
  clientRequest.destroy();
  await consumed.closed;

  expect(consumed.pieces).toBeLessThan(1_000);
  // A client may hang up: this is nothing to log.
  expect(logged).toEqual([]);
});

test("half a file does not pass for the whole: the connection breaks, and the log says why", async () => {
  const hasArrived = Promise.withResolvers<void>();
  async function* breaking() {
    yield "a,b\r\n";
    await hasArrived.promise;
    yield* failAfter("c,");
  }
  const { answer, logged } = await whenRequested(createFakeStreamEndpoint(breaking));
  await once(answer, "data");
  hasArrived.resolve();

  await expect(buffer(answer)).rejects.toThrow("aborted");
  expect(logged).toMatchObject([
    { event: "answer_broke_off", fields: { requestId: "req_1", cause: { code: "UNAVAILABLE" } } },
  ]);
});
