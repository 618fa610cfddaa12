import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { buffer, json } from "node:stream/consumers";
import { FORM_BYTES_MAX } from "@mailproof/api/http/body";
import { type Endpoint, endpoint } from "@mailproof/api/http/endpoint";
import { drainBody } from "@mailproof/local/server/request-body";
import { createApiServer } from "@mailproof/local/server/server";
import * as v from "valibot";
import { expect, onTestFinished, test } from "vitest";
import {
  createCountedPieces,
  createFakeStreamEndpoint,
  failAfter,
  fakeFormEndpoint,
} from "../app/fake-endpoints.ts";
import { givenWorld } from "../app/given.ts";
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

test("the first piece of a stream arrives before the second is produced", async () => {
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

test("a streamed response contains its endpoint's headers and no content-length", async () => {
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

test("the server reads the source as fast as the client reads, and no faster", async () => {
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

test("the server closes the source when the client hangs up", async () => {
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

test("a connection aborts when its source fails, and the log contains the cause", async () => {
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

test("the server reads once per turn of the event loop from all bodies that it drains", async () => {
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

// What a client learns about its money when a bug is outside of respond().

/** Charges, and returns a header that Node refuses to write. */
const paidEndpoint = endpoint({
  id: "samplePaid",
  route: "POST /v1/sample/paid",
  tag: "Service",
  tool: null,
  summary: "Charge.",
  price: "1 credit.",
  access: "verification:write",
  needs: [],
  answers: [200],
  errors: [],
  output: v.unknown(),

  handle: async () => ({ status: 200, headers: { "x-broken": "two\nlines" }, data: {} }),
});

test("a response that cannot be written reports the charge as unknown", async () => {
  const { port, liveKey, logged } = await whenListening(paidEndpoint);

  const response = await fetch(`http://127.0.0.1:${port}/v1/sample/paid`, {
    method: "POST",
    headers: { "x-api-key": liveKey },
  });

  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { code: "INTERNAL", money: "unknown" } });
  expect(logged.map(({ event }) => event)).toEqual(["failure"]);
});

test("an upload that the disk fails charges nothing", async () => {
  const { world } = givenWorld();
  const blobs = { ...world.blobs, put: () => Promise.reject(new Error("no space left")) };
  const server = createApiServer({ ...world, blobs }, (_method, key) => ({
    method: "PUT",
    key,
    bytesMax: 1_000,
  })).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  const response = await fetch(`http://127.0.0.1:${port}/blobs/uploads/list.csv`, {
    method: "PUT",
    body: "a@b.c",
  });

  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ error: { money: "nothing_charged" } });
});

const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="l.csv"\r\n\r\n';
const TAIL = "\r\n--b--\r\n";

/** Reads a form and keeps nothing but how long it was. */
const measuring = endpoint({
  ...fakeFormEndpoint,
  form: "streamed",
  async handle(_world, _caller, { form }) {
    let bytes = 0;
    for await (const { content } of form ?? [])
      for await (const piece of content) bytes += piece.length;
    return { status: 202, data: { bytes } };
  },
});

const whenRequesting = async (headers: OutgoingHttpHeaders, route: Endpoint = measuring) => {
  const { port, liveKey } = await whenListening(route);
  const type = "multipart/form-data; boundary=b";
  return request({
    port,
    method: "POST",
    path: "/v1/sample/form",
    headers: { "x-api-key": liveKey, "content-type": type, ...headers },
    agent: false,
  });
};

/** Sends a file of this many bytes, in pieces, and reads the answer. */
const whenSent = async (fileBytes: number, headers: OutgoingHttpHeaders = {}) => {
  const clientRequest = await whenRequesting(headers);
  const answered = once(clientRequest, "response") as Promise<[IncomingMessage]>;
  clientRequest.write(HEAD);
  const piece = Buffer.alloc(1_000_000, "x");
  for (let left = fileBytes; left > 0; left -= piece.length)
    if (!clientRequest.write(piece.subarray(0, left))) await once(clientRequest, "drain");
  clientRequest.end(TAIL);
  const [answer] = await answered;
  return { status: answer.statusCode, body: await json(answer) };
};

const ROUND = HEAD.length + TAIL.length;
const TOO_LARGE = {
  status: 413,
  body: {
    error: {
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringMatching(/get_upload_url.*PUT.*process/),
    },
  },
};

test("the server reads a form of 55 MB and refuses one more byte with the way to send it", async () => {
  expect(await whenSent(FORM_BYTES_MAX - ROUND)).toEqual({
    status: 202,
    body: { success: true, data: { bytes: FORM_BYTES_MAX - ROUND } },
  });
  expect(await whenSent(FORM_BYTES_MAX - ROUND + 1)).toMatchObject(TOO_LARGE);
});

test("the server refuses a form by its content-length before it reads the form", async () => {
  const clientRequest = await whenRequesting({ "content-length": FORM_BYTES_MAX + 1 });
  clientRequest.on("error", () => {});
  clientRequest.write(HEAD);
  const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];

  expect({ status: answer.statusCode, body: await json(answer) }).toMatchObject(TOO_LARGE);
  expect(answer.headers.connection).toBe("close");
});

test("a client that hangs up inside a form causes no failure", async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const reading = endpoint({
    ...fakeFormEndpoint,
    form: "streamed",
    async handle(_world, _caller, { form }) {
      try {
        for await (const { content } of form ?? [])
          for await (const _piece of content) begun.resolve();
      } catch (error) {
        ended.resolve(error);
      }
      return { status: 202, data: {} };
    },
  });
  const clientRequest = await whenRequesting({}, reading);
  clientRequest.on("error", () => {});
  clientRequest.write(HEAD + "x".repeat(100_000));
  await begun.promise;
  clientRequest.destroy();

  // A status below 500 is not logged.
  expect(await ended.promise).toMatchObject({ code: "INVALID_REQUEST" });
});
