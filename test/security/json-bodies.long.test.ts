import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { endpoints, programEndpoints } from "@mailproof/api/endpoints";
import { verifyBatch } from "@mailproof/api/endpoints/verify-batch";
import {
  assertCheapJson,
  BODY_BYTES_MAX,
  createJsonGuard,
  getBodyBytesMax,
  parseJson,
} from "@mailproof/api/http/body";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { lambda } from "@mailproof/functions/lambda";
import { expect, onTestFinished, test } from "vitest";
import { toEvent } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { startServer } from "../servers/listening.ts";
import { createFolder, whenStarted } from "../servers/running.ts";
import { residentMegabytes } from "../servers/slow-clients.ts";

// Goal: a JSON body costs no more than the operation needs: its size is held to the operation's own limit, its form is
// looked at before it is parsed.
// Method: every operation for programs that takes a body, on one machine and through its Lambda; bodies made to cost the most.

const TAKING = programEndpoints.filter(({ body }) => body !== undefined);
const LARGE = [
  "POST /v1/verify/batch",
  "POST /v1/activity/events",
  "POST /v1/deliverability/reports",
];

const JSON_TYPE = ["content-type", "application/json"] as const;
const getPath = ({ route }: Endpoint) => {
  const [method = "", path = ""] = route.split(" ");
  return { method, path: path.replaceAll(/\{\w+\}/g, "x") };
};

test("only batches, event lists and reports may exceed 128,000 bytes, and no body 5 MB", () => {
  const large = endpoints.filter((one) => getBodyBytesMax(one) > BODY_BYTES_MAX);

  expect(BODY_BYTES_MAX).toBe(128_000);
  expect(large.map(({ route }) => route).toSorted()).toEqual(LARGE.toSorted());
  expect(Math.max(...large.map(getBodyBytesMax))).toBe(5_000_000);
});

test.each(TAKING.map((one) => [one.route, one] as const))(
  "both runtimes answer 413 with the limit and without a charge for a body over the limit of %s",
  async (_route, endpoint) => {
    const bytesMax = getBodyBytesMax(endpoint);
    const { method, path } = getPath(endpoint);
    const body = `{"x":"${"x".repeat(bytesMax)}"}`;
    const { port, liveKey } = await startServer();
    const ctx = await given();
    const headers = { "x-api-key": liveKey, "content-type": "application/json" };

    const here = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
    const event = toEvent({
      method,
      url: path,
      headers: [["x-api-key", ctx.liveKey], JSON_TYPE],
      body,
    });
    const there = await lambda(endpoint, ctx.world)(event, {} as never);

    const error = {
      code: "PAYLOAD_TOO_LARGE",
      money: "nothing_charged",
      message: expect.stringContaining(`over ${bytesMax} bytes`),
    };
    expect([here.status, there.statusCode]).toEqual([413, 413]);
    expect(await here.json()).toMatchObject({ error });
    expect(JSON.parse(there.body ?? "")).toMatchObject({ error });
  },
);

test("a batch of 10,000 addresses of 490 letters fits the limit", () => {
  const address = `${"a".repeat(470)}@example.company.com`;
  const body = JSON.stringify({ emails: Array.from({ length: 10_000 }, () => address) });

  expect(Buffer.byteLength(body)).toBeLessThan(getBodyBytesMax(verifyBatch));
  expect(parseJson(Buffer.from(body))).toMatchObject({ emails: { length: 10_000 } });
});

test("a tool call obeys its operation's body limit", async () => {
  const { port, liveKey } = await startServer();
  const call = async (name: string, args: object) => {
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: {
        "x-api-key": liveKey,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });
    return answer.text();
  };

  expect(await call("verify_email", { email: "x".repeat(BODY_BYTES_MAX) })).toContain(
    "PAYLOAD_TOO_LARGE",
  );
  expect(await call("verify_batch", { emails: ["x".repeat(BODY_BYTES_MAX)] })).toContain(
    "INVALID_REQUEST",
  );
});

const MEGABYTES = 5_000_000;
const COSTLY: readonly (readonly [string, string, string])[] = [
  ["lists in lists", "[".repeat(MEGABYTES / 2), "32 levels"],
  ["objects in objects", '{"a":'.repeat(MEGABYTES / 5), "32 levels"],
  ["many names", `{${'"a":1,'.repeat(MEGABYTES / 6)}"a":1}`, "100000 values"],
  ["many empty objects", `[${"{},".repeat(MEGABYTES / 3)}{}]`, "100000 values"],
  ["many empty texts", `{"emails":[${'"",'.repeat(MEGABYTES / 3)}""]}`, "100000 values"],
];

test.each([
  ["lists in lists", `{"a":"[[","b":${"[".repeat(40)}`, "32 levels"],
  ["brackets in a text", `{"a":"${"[".repeat(40)}\\"[[\\\\"}`, "nothing"],
  ["lists after a text that ends in a backslash", `{"a":"\\\\","b":${"[".repeat(40)}`, "32 levels"],
])("the body reader judges %s equally in chunks and in one piece", (_what, body, why) => {
  const judge = (chunks: readonly string[]): string => {
    const assertCheap = createJsonGuard();
    try {
      for (const chunk of chunks) assertCheap(Buffer.from(chunk));
    } catch (error) {
      return String(error);
    }
    return "nothing";
  };
  expect(judge([body])).toContain(why);
  for (let at = 1; at < body.length; at++)
    expect(judge([body.slice(0, at), body.slice(at)])).toBe(judge([body]));
});

test("the server refuses a body of brackets with its first chunk", async () => {
  const { port, liveKey } = await startServer();
  const socket = connect(port, "127.0.0.1");
  const head = `POST /v1/verify/batch HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${liveKey}\r\n`;
  socket.write(`${head}content-type: application/json\r\ncontent-length: 4000000\r\n\r\n`);
  socket.write("[".repeat(1_000));
  const [answer] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  expect(String(answer)).toContain("32 levels");
});

test.each(COSTLY)(
  "the server refuses a body of %s before it parses the body",
  async (_what, body, why) => {
    const refusal = { code: "INVALID_REQUEST", message: expect.stringContaining(why) };
    expect(() => assertCheapJson(Buffer.from(body))).toThrow(expect.objectContaining(refusal));

    const { port, liveKey } = await startServer();
    const answer = await fetch(`http://127.0.0.1:${port}/v1/verify/batch`, {
      method: "POST",
      headers: { "x-api-key": liveKey, "content-type": "application/json" },
      body: body.slice(0, MEGABYTES),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { ...refusal, money: "nothing_charged" } },
    ]);

    const ctx = await given();
    const event = toEvent({
      method: "POST",
      url: "/v1/verify/batch",
      headers: [["x-api-key", ctx.liveKey], JSON_TYPE],
      body: body.slice(0, MEGABYTES),
    });
    const there = await lambda(verifyBatch, ctx.world)(event, {} as never);
    expect([there.statusCode, JSON.parse(there.body ?? "")]).toMatchObject([
      400,
      { error: refusal },
    ]);
  },
);

test("the body reader does not count brackets, commas and colons inside strings", () => {
  const text = `[{:,"\\\\`.repeat(50_000);

  expect(parseJson(Buffer.from(JSON.stringify({ text })))).toEqual({ text });
  expect(parseJson(Buffer.from(JSON.stringify({ [text]: "\\" })))).toEqual({ [text]: "\\" });
});

// Goal: what callers make the server hold in memory is bounded in bytes, and not only in requests.
// Method: uploads that hold back their last bytes, on a process of its own.

const UPLOADS = 40;
const FILE_BYTES = 19_900_000;
/** All of them would be 800. What is refused is read and dropped, which a busy machine collects later. */
const GROWTH_MEGABYTES = 250;
/** 60 MB of an account. */
const HELD = 3;
const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="r.xml"\r\n\r\n';
const TAIL = "\r\n--b--\r\n";

/** Sends all of a form but its end. */
const holdBack = (port: number, key: string, onStatus: (status: string) => void): void => {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.on("data", (bytes) => onStatus(bytes.toString("latin1", 9, 12)));
  const length = HEAD.length + FILE_BYTES + TAIL.length;
  socket.write(
    `POST /v1/deliverability/reports HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n${HEAD}`,
  );
  const piece = Buffer.alloc(100_000, " ");
  let left = FILE_BYTES;
  const send = (): void => {
    let mayGoOn = true;
    for (; left > 0 && mayGoOn; left -= piece.length) mayGoOn = socket.write(piece);
  };
  socket.on("drain", send);
  send();
};

test("the server refuses uploads that withhold their last bytes by declared length, and serves others", async () => {
  const { ready, pid } = await whenStarted(createFolder());
  const { base_url: url, live_key: key, test_key: testKey } = ready;
  const verify = async () => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const body = JSON.stringify({ email: "ada.lovelace@valid.lab.mailproof.test" });
    return (await fetch(`${url}/v1/verify`, { method: "POST", headers, body })).status;
  };
  await verify();
  const before = residentMegabytes(pid);

  const answers: string[] = [];
  for (let n = 0; n < UPLOADS; n++)
    holdBack(Number(new URL(url).port), testKey, (status) => answers.push(status));
  while (answers.length < UPLOADS - HELD) await setTimeout(10);

  expect(new Set(answers)).toEqual(new Set(["429"]));
  expect(await verify()).toBe(200);
  expect(residentMegabytes(pid) - before).toBeLessThan(GROWTH_MEGABYTES);
});
