import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { endpoint } from "@mailproof/api/http/endpoint";
import * as v from "valibot";
import { expect, test } from "vitest";
import { startServer } from "../servers/listening.ts";
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

test("the server keeps a connection while its handler works, however long", async () => {
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
