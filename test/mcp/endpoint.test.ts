import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { AppWorld } from "@mailproof/core/app-world";
import { createMcpLambda } from "@mailproof/functions/mcp";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import { describe, expect, test } from "vitest";
import { toEvent, type WireRequest } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
import { asRows } from "../runner/as-rows.ts";
import { serveMcp } from "./client.ts";

const JSON_RPC = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  },
};

type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
};

/** Not by fetch: it would not let us say where we come from. */
const viaServer = async (world: AppWorld, sent: WireRequest): Promise<Answered> => {
  const url = await serveMcp(world);
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const clientRequest = request(url + sent.url, {
    method: sent.method,
    headers: Object.fromEntries(sent.headers ?? []),
  });
  clientRequest.once("error", reject).once("response", (incoming) => {
    const { statusCode: status = 0, headers } = incoming;
    text(incoming).then((body) => resolve({ status, headers, body }), reject);
  });
  clientRequest.end(sent.body);
  return promise;
};

const viaLambda = async (world: AppWorld, sent: WireRequest): Promise<Answered> => {
  const response = await createMcpLambda(world)(toEvent(sent), createContext());
  return {
    status: response.statusCode ?? 0,
    headers: { ...response.headers },
    body: response.body ?? "",
  };
};

const posted = (
  body: unknown,
  headers: Readonly<Record<string, string>>,
  method = "POST",
): WireRequest => ({
  method,
  url: "/mcp",
  headers: Object.entries({ ...JSON_RPC, ...headers }),
  ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
});

const listEvents = (body: string): unknown[] =>
  [...body.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => JSON.parse(data) as unknown);

const KEY = { "x-api-key": "KEY" };

describe.each([
  ["the local server", viaServer],
  ["the Lambda", viaLambda],
] as const)("the MCP endpoint of %s", (_where, via) => {
  test.each(asRows<[string, WireRequest, number, string?]>`
  a list of the tools | ${posted(LIST, KEY)} | 200
  a greeting of the older protocol | ${posted(INITIALIZE, KEY)} | 200
  a notification | ${posted({ jsonrpc: "2.0", method: "notifications/initialized" }, KEY)} | 202
  a missing key | ${posted(LIST, {})} | 401 | UNAUTHORIZED
  a wrong key | ${posted(LIST, { "x-api-key": "mp_live_x" })} | 401 | UNAUTHORIZED
  a missing key and malformed JSON | ${posted("{", {})} | 401 | UNAUTHORIZED
  a GET | ${posted(undefined, KEY, "GET")} | 405 | METHOD_NOT_ALLOWED
  a DELETE without a key | ${posted(undefined, {}, "DELETE")} | 405 | METHOD_NOT_ALLOWED
  malformed JSON | ${posted("{", KEY)} | 400 | INVALID_REQUEST
  an empty body | ${posted(undefined, KEY)} | 400 | INVALID_REQUEST
  several messages at once | ${posted([LIST, LIST], KEY)} | 400 | INVALID_REQUEST
  another content type | ${posted(LIST, { ...KEY, "content-type": "text/plain" })} | 400 | INVALID_REQUEST
  an oversized body | ${posted(`"${"x".repeat(5_000_001)}"`, KEY)} | 413 | PAYLOAD_TOO_LARGE
  a page of this machine | ${posted(LIST, { ...KEY, origin: "http://localhost:6274" })} | 200
  a page of this machine by IP address | ${posted(LIST, { ...KEY, origin: "http://127.0.0.1:3000" })} | 200
  a page of another origin | ${posted(LIST, { ...KEY, origin: "https://evil.example" })} | 403 | FORBIDDEN
  a page of a similar origin | ${posted(LIST, { ...KEY, origin: "http://localhost.evil.example" })} | 403
  a page of a null origin | ${posted(LIST, { ...KEY, origin: "null" })} | 403 | FORBIDDEN
  a page of another origin without a key | ${posted(LIST, { origin: "https://evil.example" })} | 403
`)("the MCP endpoint answers %s", async (_what, sent, status, code) => {
    const { world, liveKey } = await given();
    const headers = sent.headers?.map(
      ([name, value]) => [name, value === "KEY" ? liveKey : value] as const,
    );

    const response = await via(world, { ...sent, ...(headers && { headers }) });

    expect(response.status).toBe(status);
    expect(response.headers["x-request-id"]).toEqual(expect.any(String));
    expect(response.headers["cache-control"]).toBe("no-store");
    const failure = code && (JSON.parse(response.body) as { error: { code: string } }).error.code;
    expect(failure).toBe(code);
  });

  test.each([1_000, 100_000])(
    "the MCP endpoint answers %d nested lists with our own error",
    async (depth) => {
      const { world, liveKey } = await given();
      const id = "[".repeat(depth) + "]".repeat(depth);
      const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_job","arguments":{"id":${id}}}}`;

      const { body } = await via(world, posted(call, { "x-api-key": liveKey }));

      // It is the id of no job, or no JSON where the parser gives up.
      expect(body).toMatch(/"code":"(?:NOT_FOUND|INVALID_REQUEST)"/);
      expect(body).toContain("Nothing was charged.");
    },
  );

  test("the MCP endpoint states its only method", async () => {
    const { world } = await given();

    expect((await via(world, posted(undefined, {}, "GET"))).headers["allow"]).toBe("POST");
  });

  test("the MCP endpoint accepts pages of its own public address", async () => {
    const { world, liveKey } = await given();
    const trusted = {
      issuer: "https://login.example.com",
      audience: "https://api.example.com/mcp",
    };
    const withTokens = { ...world, accessTokens: createTokenVerifier(trusted, world.now) };
    const from = (origin: string) =>
      via(withTokens, posted(LIST, { "x-api-key": liveKey, origin }));

    expect((await from("https://api.example.com")).status).toBe(200);
    expect((await from("http://api.example.com")).status).toBe(403);
  });

  test("the MCP endpoint accepts a subscription and ends it at once, since nothing changes", async () => {
    const { world, liveKey } = await given();
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const sent = posted(
      {
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: { _meta: meta, notifications: { toolsListChanged: true } },
      },
      {
        "x-api-key": liveKey,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      },
    );

    const response = await via(world, sent);

    expect(response.status).toBe(200);
    expect(response.headers["content-type"]).toBe("text/event-stream");
    expect(listEvents(response.body)).toMatchObject([
      { method: "notifications/subscriptions/acknowledged", params: { notifications: {} } },
      { id: 1, result: { resultType: "complete" } },
    ]);
  });
});

test("a page of this machine may send the protocol's headers and read the challenge", async () => {
  const { world } = await given();
  const url = `${await serveMcp(world)}/mcp`;

  const preflight = await fetch(url, { method: "OPTIONS" });
  const refused = await fetch(url, { method: "POST" });

  expect(preflight.status).toBe(204);
  for (const name of ["mcp-method", "mcp-name", "mcp-protocol-version", "authorization"])
    expect(preflight.headers.get("access-control-allow-headers")).toContain(name);
  expect(refused.headers.get("access-control-expose-headers")).toContain("www-authenticate");
});
