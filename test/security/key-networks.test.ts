import { endpoints } from "@mailproof/api/endpoints";
import { getAccount as getAccountEndpoint } from "@mailproof/api/endpoints/get-account";
import { createKey } from "@mailproof/core/accounts/api-keys";
import { lambda } from "@mailproof/functions/lambda";
import { createMcpLambda } from "@mailproof/functions/mcp";
import { readEnvironment } from "@mailproof/local/environment";
import { CONNECTION_LIMITS } from "@mailproof/local/server/connections";
import { createApiServer } from "@mailproof/local/server/server";
import { createSite, getClientIp } from "@mailproof/local/server/site";
import { expect, onTestFinished, test } from "vitest";
import { toEvent } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";

// Goal: a key that is limited to networks is worth nothing elsewhere, whatever the caller writes into headers, on every
// way to an operation.

const givenLimitedKey = async (networks: readonly string[]) => {
  const ctx = await given({ balance: 5 });
  const request = { account: ctx.account, name: "K", mode: "live", scopes: null } as const;
  const { secret } = await createKey(ctx.world, { ...request, networks: [...networks] });
  return { ...ctx, secret };
};

const serve = async (networks: readonly string[], settings: Record<string, string> = {}) => {
  const { world, secret } = await givenLimitedKey(networks);
  const site = createSite(readEnvironment(settings));
  const server = createApiServer(world, () => undefined, endpoints, CONNECTION_LIMITS, { site });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const base = `http://127.0.0.1:${port}`;
  const ask = (headers: Record<string, string> = {}) =>
    fetch(`${base}/v1/account`, { headers: { "x-api-key": secret, ...headers } });
  const callTool = (headers: Record<string, string> = {}) =>
    fetch(`${base}/mcp`, {
      method: "POST",
      headers: {
        "x-api-key": secret,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify(TOOL_CALL),
    });
  return { ask, callTool };
};

const TOOL_CALL = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "get_account", arguments: {} },
};

test("a request answers 403 from another network than its key's, without that network's name", async () => {
  const outside = await serve(["192.0.2.0/24", "2001:db8::/32"]);
  const inside = await serve(["127.0.0.0/8"]);

  const refused = await outside.ask();

  expect(refused.status).toBe(403);
  const text = await refused.text();
  expect(JSON.parse(text)).toMatchObject({
    error: {
      code: "FORBIDDEN",
      message: "This key is not accepted from the network of this request. Nothing was charged.",
    },
  });
  expect(text.replace(/"doc_url":"[^"]*"/, "")).not.toMatch(/192\.0|2001:db8|127\.0/);
  expect((await inside.ask()).status).toBe(200);
});

test("a tool call obeys the key's networks, and no client header changes its address", async () => {
  const outside = await serve(["192.0.2.0/24"]);
  const inside = await serve(["127.0.0.0/8"]);
  const forged = {
    "x-forwarded-for": "192.0.2.1",
    "x-mailproof-client-ip": "192.0.2.1",
    forwarded: "for=192.0.2.1",
  };

  expect((await outside.callTool(forged)).status).toBe(403);
  expect((await outside.ask(forged)).status).toBe(403);
  const called = await inside.callTool();
  expect(called.status).toBe(200);
  expect(await called.text()).toContain("account_id");
});

test.each<[string, string, string | undefined, string]>([
  ["a client without a proxy", "203.0.113.9", "192.0.2.1", "203.0.113.9"],
  ["a proxy that states its client", "127.0.0.1", "192.0.2.1", "192.0.2.1"],
  ["a proxy whose client added a header", "127.0.0.1", "192.0.2.1, 203.0.113.9", "203.0.113.9"],
  ["two proxies", "127.0.0.1", "192.0.2.1, 203.0.113.9, ::ffff:127.0.0.2", "203.0.113.9"],
  ["a proxy without a client's address", "127.0.0.1", undefined, "127.0.0.1"],
  ["a proxy with an IPv6 client", "::1", "2001:db8::5", "2001:db8::5"],
  ["a proxy that adds a port", "127.0.0.1", "192.0.2.1:50123", "192.0.2.1"],
  ["a proxy that adds a port to an IPv6 address", "::1", "[2001:db8::5]:50123", "2001:db8::5"],
  ["a proxy that adds brackets", "::1", "[2001:db8::5]", "2001:db8::5"],
])("the server finds the client's address behind %s", (_, remoteAddress, forwarded, expected) => {
  const headers = forwarded === undefined ? {} : { "x-forwarded-for": forwarded };
  const site = createSite(readEnvironment({ TRUST_PROXY: "127.0.0.0/8, ::1" }));

  expect(getClientIp(site, { headers, socket: { remoteAddress } } as never)).toBe(expected);
});

test.each([
  [["192.0.2.0/24"], 200],
  [["198.51.100.0/24"], 403],
])(
  "a Lambda uses the client's address from API Gateway: a key for %s answers %i",
  async (networks, status) => {
    const { world, secret } = await givenLimitedKey(networks);
    const headers = [
      ["x-api-key", secret],
      ["x-forwarded-for", "198.51.100.1"],
    ] as const;
    const event = toEvent({ method: "GET", url: "/v1/account", headers });
    const toolEvent = toEvent({
      method: "POST",
      url: "/mcp",
      headers: [
        ...headers,
        ["content-type", "application/json"],
        ["accept", "application/json, text/event-stream"],
      ],
      body: JSON.stringify(TOOL_CALL),
    });

    const answer = await lambda(getAccountEndpoint, world)(event, createContext());
    const called = await createMcpLambda(world)(toolEvent, createContext());

    expect([answer.statusCode, called.statusCode]).toEqual([status, status]);
  },
);
