import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { endpoint } from "@mailproof/api/http/endpoint";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { request, setupServer, startServer } from "../servers/listening.ts";
import { afterRounds, connectTo, get, isOpen, waitForEnd } from "../servers/slow-clients.ts";

// Goal: what one client sends or leaves unread costs this process a bounded part of its memory and its sockets, and
// clients that take their answers are served meanwhile.
// Method: sockets that send what no client would, or read nothing, against the server of one machine with small limits.
// What is asserted is counted: requests served, sockets ended.

/** Responds with this many bytes, after the promise. */
const respondingWith = (bytes: number, ready: () => Promise<unknown> = async () => undefined) => {
  const counts = { served: 0 };
  const route = endpoint({
    id: "getText",
    route: "GET /v1/text",
    tag: "Service",
    tool: null,
    summary: "Respond with a text.",
    price: null,
    access: "public",
    needs: [],
    answers: [200],
    errors: [],
    output: v.string(),
    async handle() {
      counts.served++;
      await ready();
      return { status: 200, data: "x".repeat(bytes) };
    },
  });
  return { route, counts };
};

const KERNEL_BYTES = 12_000_000;

test("the server serves a pipelining client that reads nothing only as much as its socket holds", async () => {
  const { route, counts } = respondingWith(100_000);
  const { port, listening } = await startServer([route]);
  const responses: ServerResponse[] = [];
  listening.on("request", (_incoming, outgoing) => responses.push(outgoing));
  const sockets = await Promise.all(Array.from({ length: 4 }, () => connectTo(port)));

  for (const socket of sockets) socket.write(get("/v1/text").repeat(20_000));
  await afterRounds(port);
  const unfinished = responses.filter((one) => !one.writableFinished);
  const unsentBytes = unfinished.reduce((sum, one) => sum + one.writableLength, 0);

  // For each connection: 16 unanswered requests and a slice with 26 of these, and one response.
  expect(unfinished.length).toBeLessThanOrEqual(4 * (16 + 26));
  expect(unsentBytes).toBeLessThan(4 * 101_000);
  expect(counts.served).toBeGreaterThan(4);
  expect(counts.served).toBeLessThan((4 * KERNEL_BYTES) / 100_000);
});

test("the server answers a pipelining client that reads to its last request, in order", async () => {
  const { port } = await startServer();
  const socket = await connectTo(port);
  const COUNT = 3_000;

  const all = text(socket);
  socket.end(Array.from({ length: COUNT }, (_, n) => get(`/v1/nowhere?n=${n}`)).join(""));
  const ids = [...(await all).matchAll(/"request_id":"req_(\d+)"/g)].map(([, id]) => Number(id));

  expect(ids).toEqual(Array.from({ length: COUNT }, (_, n) => n + 1));
});

test("the server handles one request at a time per connection, however many it receives", async () => {
  const gate = Promise.withResolvers<void>();
  const { route, counts } = respondingWith(1, () => gate.promise);
  const { port } = await startServer([route]);
  const socket = await connectTo(port);

  socket.end(get("/v1/text").repeat(100));
  await afterRounds(port);
  const before = counts.served;
  gate.resolve();
  const all = await text(socket);

  expect(before).toBe(1);
  expect(all.match(/HTTP\/1\.1 200/g)).toHaveLength(100);
});

test("the server reads a body behind pipelined requests and a request behind a body whole", async () => {
  const { port } = await startServer();
  const socket = await connectTo(port);
  const body = "x".repeat(300_000);
  const post = `POST /v1/nowhere HTTP/1.1\r\nHost: x.example\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  const all = text(socket);
  socket.end(get("/v1/nowhere").repeat(40) + post + get("/v1/nowhere").repeat(40) + post);

  expect((await all).match(/HTTP\/1\.1 404/g)).toHaveLength(82);
});

test("the server disconnects a client that does not read its response", async () => {
  const { route } = respondingWith(KERNEL_BYTES);
  const { port, listening } = await startServer([route], { stallMs: 100 });
  const socket = await connectTo(port);

  socket.write(get("/v1/text"));
  await once(listening, "timeout");
  await waitForEnd(socket);

  expect(socket.bytesRead).toBeLessThan(KERNEL_BYTES);
});

test("the server never closes a connection while its handler works", async () => {
  const gate = Promise.withResolvers<void>();
  const { route } = respondingWith(1, () => gate.promise);
  const { port, listening } = await startServer([route], { stallMs: 50 });
  const pendingRequest = fetch(`http://127.0.0.1:${port}/v1/text`);

  await once(listening, "timeout");
  gate.resolve();

  expect((await pendingRequest).status).toBe(200);
});

test("the server disconnects a client that does not read its response, also after a slow handler", async () => {
  const gate = Promise.withResolvers<void>();
  const { route } = respondingWith(KERNEL_BYTES, () => gate.promise);
  const { port, listening } = await startServer([route], { stallMs: 50 });
  const socket = await connectTo(port);
  socket.write(get("/v1/text"));

  await once(listening, "timeout");
  gate.resolve();
  await once(listening, "timeout");
  await waitForEnd(socket);

  expect(socket.bytesRead).toBeLessThan(KERNEL_BYTES);
});

test.each([
  ["nothing", ""],
  ["half of its headers", "GET /health HTTP/1.1\r\nHost: x"],
  ["half of a body", "POST /v1/nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"],
])("the server disconnects a client that sends %s", async (_what, sent) => {
  const { port } = await startServer(undefined, { headersMs: 200, stallMs: 200 });
  const socket = await connectTo(port);

  socket.write(sent);

  expect(await waitForEnd(socket)).toBeUndefined();
});

test("the server closes the connection that waited longest for its client when over the limit", async () => {
  const { port } = await startServer(undefined, { connectionsMax: 5 });
  const idle = await Promise.all(Array.from({ length: 5 }, () => connectTo(port)));

  const answer = await fetch(`http://127.0.0.1:${port}/health`);
  const [ended] = await Promise.race(
    idle.map(async (one) => [await waitForEnd(one), one].slice(1)),
  );

  expect(answer.status).toBe(200);
  expect(idle).toContain(ended);
  expect(idle.filter(isOpen)).toHaveLength(4);
});

test("the server refuses a new connection when every other one carries a request in progress", async () => {
  const gate = Promise.withResolvers<void>();
  const { route, counts } = respondingWith(1, () => gate.promise);
  const { port } = await startServer([route], { connectionsMax: 3 });
  const working = Array.from({ length: 3 }, () => fetch(`http://127.0.0.1:${port}/v1/text`));
  while (counts.served < 3) await new Promise(setImmediate);

  await waitForEnd(await connectTo(port));
  gate.resolve();

  expect((await Promise.all(working)).map(({ status }) => status)).toEqual([200, 200, 200]);
});

test("a refused request whose body never ends frees its place", async () => {
  const { port, listening } = await startServer(undefined, { connectionsMax: 3 });
  let requests = 0;
  listening.on("request", () => requests++);
  const stalled = await Promise.all(Array.from({ length: 3 }, () => connectTo(port)));
  const head = "POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{";
  for (const socket of stalled) socket.write(head);
  while (requests < 3) await new Promise(setImmediate);

  for (let n = 0; n < 3; n++) {
    const headers = { connection: "close" };
    const answer = await fetch(`http://127.0.0.1:${port}/health`, { headers });
    expect(answer.status).toBe(200);
  }
});

test("the server closes the longest waiting connections when over the limit of unsent bytes", async () => {
  const { route } = respondingWith(KERNEL_BYTES);
  const { port } = await startServer([route], { unsentBytesMax: 20_000_000 });
  const sockets = await Promise.all(Array.from({ length: 8 }, () => connectTo(port)));

  for (const socket of sockets) {
    socket.write(get("/v1/text"));
    await afterRounds(port, 5);
  }
  const [first] = sockets;
  if (first) await waitForEnd(first);
  const another = await fetch(`http://127.0.0.1:${port}/v1/text`);

  expect(first?.bytesRead).toBeLessThan(KERNEL_BYTES);
  expect((await another.text()).length).toBeGreaterThan(KERNEL_BYTES);
});

// Goal: what we take for one request is what everybody on the way takes for one, and a request leads where its line
// says and nowhere else.
// Method: bytes that no client would send, over a socket to the server of one machine. `served` is how many requests
// it took them for. On AWS API Gateway stands in its place.

const BODY = '{"email":"ann@x.com"}';
const LENGTH = `Content-Length: ${BODY.length}`;
const CHUNK = `${BODY.length.toString(16)}\r\n${BODY}\r\n`;
const JSON_TYPE = "Content-Type: application/json";

type RawRequest = (key: string) => string;
type Case = readonly [
  what: string,
  request: RawRequest,
  statuses: readonly number[],
  served: number,
];

const postRequest =
  (headers: readonly string[], body = BODY): RawRequest =>
  (key) =>
    request("POST /v1/verify HTTP/1.1", [key, JSON_TYPE, ...headers], { body });
const plainRequest =
  (line: string, headers: readonly string[] = []): RawRequest =>
  (key) =>
    request(`${line} HTTP/1.1`, [key, ...headers]);
const hiddenRequest = plainRequest("GET /v1/account");
const hidingRequest =
  (headers: readonly string[]): RawRequest =>
  (key) =>
    postRequest(headers, `0\r\n\r\n${hiddenRequest(key)}`)(key);

const FRAMING: readonly Case[] = asRows`
  a length and chunks | ${hidingRequest(["Content-Length: 4", "Transfer-Encoding: chunked"])} | [400] | 0
  chunks and a length | ${hidingRequest(["Transfer-Encoding: chunked", "Content-Length: 4"])} | [400] | 0
  two lengths | ${postRequest([LENGTH, "Content-Length: 0"])} | [400] | 0
  the same length twice | ${postRequest([LENGTH, LENGTH])} | [400] | 0
  a list of lengths | ${postRequest([`${LENGTH}, ${BODY.length}`])} | [400] | 0
  a length with a sign | ${postRequest([`Content-Length: +${BODY.length}`])} | [400] | 0
  a negative length | ${postRequest(["Content-Length: -1"])} | [400] | 0
  a hexadecimal length | ${postRequest(["Content-Length: 0x16"])} | [400] | 0
  an encoding after chunks | ${hidingRequest(["Transfer-Encoding: chunked, identity"])} | [400] | 0
  an encoding similar to chunked | ${hidingRequest(["Transfer-Encoding: xchunked"])} | [400] | 0
  two encodings | ${hidingRequest(["Transfer-Encoding: chunked", "Transfer-Encoding: a"])} | [400] | 0
  a blank before the colon | ${hidingRequest(["Transfer-Encoding : chunked"])} | [400] | 0
  a folded line | ${postRequest(["X-A: b\r\n c", LENGTH])} | [400] | 0
  a line end in a header | ${postRequest([`X-A: a\n${LENGTH}`])} | [400] | 0
  a line without a colon | ${postRequest(["X-A", LENGTH])} | [400] | 0
  NUL in a header | ${postRequest(["X-A: a\0b", LENGTH])} | [400] | 0
  lines that end in LF alone | ${(key: string) => hiddenRequest(key).replaceAll("\r\n", "\n")} | [400] | 0
  lines that end in CR alone | ${(key: string) => hiddenRequest(key).replaceAll("\r\n", "\r")} | [400] | 0
  a chunk that ends in LF | ${postRequest(["Transfer-Encoding: chunked"], `15\n${BODY}`)} | [400] | 0
  a chunk without end | ${postRequest(["Transfer-Encoding: chunked"], "fffffffffffffffff\r\n")} | [400] | 0
  no host | ${(key: string) => request("GET /v1/account HTTP/1.1", [key], { host: "" })} | [400] | 0
  two hosts | ${plainRequest("GET /v1/account", ["Host: evil.example"])} | [400] | 1
  an unknown expectation | ${postRequest([LENGTH, "Expect: miracles"])} | [417] | 0
  one header that is too long | ${plainRequest("GET /v1/account", [`X-A: ${"a".repeat(20_000)}`])} | [431] | 0
  too many headers | ${plainRequest(
    "GET /v1/account",
    Array.from({ length: 3_000 }, (_one, n) => `X-${n}: 1`),
  )} | [431] | 0
  three requests at once | ${(key: string) => hiddenRequest(key).repeat(3)} | [200 200 200] | 3
  a request in the body of one that takes none
    | ${(key: string) => request("GET /v1/account HTTP/1.1", [key, `Content-Length: ${hiddenRequest(key).length}`], { body: hiddenRequest(key) })} | [200] | 1
  chunks with extensions | ${postRequest(["Transfer-Encoding: chunked"], `15;a=b${CHUNK.slice(2)}0\r\n\r\n`)} | [200] | 1
  a key behind the chunks
    | ${() => request("POST /v1/verify HTTP/1.1", [JSON_TYPE, "Transfer-Encoding: chunked"], { body: `${CHUNK}0\r\nX-Api-Key: mp_live_0\r\n\r\n` })} | [401] | 1
`;

const ROUTES: readonly Case[] = asRows`
  two slashes | ${plainRequest("GET //v1/account")} | [404] | 1
  a path with another host | ${plainRequest("GET //evil.example/v1/account")} | [404] | 1
  a path with dots | ${plainRequest("GET /v1/../v1/account")} | [404] | 1
  a path with encoded dots | ${plainRequest("GET /v1/%2e%2e/v1/account")} | [404] | 1
  an encoded slash | ${plainRequest("GET /v1%2faccount")} | [404] | 1
  a slash at the end | ${plainRequest("GET /v1/account/")} | [308] | 1
  an encoded NUL | ${plainRequest("GET /v1/account%00")} | [404] | 1
  NUL | ${plainRequest("GET /v1/acc\0ount")} | [400] | 0
  backslashes | ${plainRequest("GET \\v1\\account")} | [400] | 0
  a parameter in the path | ${plainRequest("GET /v1/account;a=b")} | [404] | 1
  a fragment | ${plainRequest("GET /v1/account#a")} | [404] | 1
  an id with encoded dots | ${plainRequest("GET /v1/jobs/%2e%2e%2f%2e%2e")} | [404] | 1
  overlong UTF-8 | ${plainRequest("GET /v1/jobs/%c0%ae")} | [400] | 1
  half an escape | ${plainRequest("GET /v1/jobs/%z")} | [400] | 1
  an id that is too long | ${plainRequest(`GET /v1/jobs/${"a".repeat(9_000)}`)} | [404] | 1
  a line that is too long | ${plainRequest(`GET /v1/jobs/${"a".repeat(20_000)}`)} | [431] | 0
  an absolute URL | ${plainRequest("GET http://evil.example/v1/account")} | [200] | 1
  an encoded plain letter | ${plainRequest("GET /v1/%61ccount")} | [200] | 1
  a method in lower case | ${plainRequest("get /v1/account")} | [400] | 0
  the method CONNECT | ${plainRequest("CONNECT evil.example:443")} | [] | 0
  the method TRACE | ${plainRequest("TRACE /v1/account")} | [405] | 1
  an upgrade to another protocol | ${plainRequest("GET /v1/account", ["Connection: Upgrade", "Upgrade: h2c"])} | [200] | 1
  a method in a header | ${plainRequest("GET /v1/api-keys/key_2", ["X-HTTP-Method-Override: DELETE"])} | [405] | 1
  a method in the query | ${plainRequest("GET /v1/api-keys/key_2?_method=DELETE")} | [405] | 1
  another path in a header | ${plainRequest("GET /health", ["X-Original-URL: /v1/account", "X-Rewrite-URL: /v1/account"])} | [200] | 1
  a path to a system file | ${plainRequest("GET /blobs/../../../../etc/passwd")} | [403] | 1
  an encoded path to a secret file | ${plainRequest("GET /blobs/%2e%2e%2fsecrets.json?until=9999999999&signature=")} | [403] | 1
`;

const KEYS: readonly Case[] = asRows`
  a second key | ${plainRequest("GET /v1/account", ["X-Api-Key: mp_live_0"])} | [401] | 1
  the same key twice | ${(key: string) => plainRequest("GET /v1/account", [key])(key)} | [401] | 1
  a key and another as a token | ${plainRequest("GET /v1/account", ["Authorization: Bearer mp_live_0"])} | [401] | 1
  two tokens | ${() => request("GET /v1/account HTTP/1.1", ["Authorization: Bearer a", "Authorization: Bearer b"])} | [401] | 1
  two content types | ${postRequest(["Content-Type: text/plain", LENGTH])} | [400] | 1
  two Idempotency-Keys, the second with a blank | ${postRequest([LENGTH, "Idempotency-Key: a", "Idempotency-Key: b c"])} | [400] | 1
`;

describe.each([
  ["the frame of a request", FRAMING],
  ["the route of a request", ROUTES],
  ["the key of a request", KEYS],
] as const)("%s", (_part, cases) => {
  test.each(cases)("the server handles %s", async (_what, request, statuses, served) => {
    const ctx = await setupServer();

    const reply = await ctx.whenSent(request(`X-Api-Key: ${ctx.liveKey}`));

    expect(reply.statuses).toEqual(statuses);
    expect(ctx.served).toHaveLength(served);
    expect(reply.all).not.toContain("root:");
  });
});

test("the server does not answer a request behind an unreadable one", async () => {
  const { whenSent, liveKey, served } = await setupServer();
  const key = `X-Api-Key: ${liveKey}`;

  const { statuses } = await whenSent(
    postRequest(["Content-Length: 4", "Transfer-Encoding: chunked"])(key),
    hiddenRequest(key),
  );

  expect(statuses).toEqual([400]);
  expect(served).toEqual([]);
});

test("a response repeats only a valid Host header, and never in a link that grants access", async () => {
  const { whenSent, liveKey } = await setupServer();
  const from = async (line: string, host: string, headers: readonly string[] = [], body = "") =>
    (await whenSent(request(`${line} HTTP/1.1`, headers, { host: `Host: ${host}`, body }))).all;
  const upload = '{"action":"get_upload_url","file_name":"a.csv"}';
  const headers = [`X-Api-Key: ${liveKey}`, JSON_TYPE, `Content-Length: ${upload.length}`];

  expect(await from("GET /docs", 'x"><script>alert(1)</script>')).not.toContain("<script>alert");
  expect(await from("GET /openapi.json", "evil.example/path?")).not.toContain("evil.example");
  expect(await from("POST /v1/verify/file", "evil.example", headers, upload)).not.toContain("evil");
});
