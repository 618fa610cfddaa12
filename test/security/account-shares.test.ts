import { endpoint } from "@mailproof/api/http/endpoint";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { createKey } from "@mailproof/core/accounts/api-keys";
import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { createShares } from "@mailproof/local/server/slots";
import * as v from "valibot";
import { expect, test } from "vitest";
import { startServer } from "../servers/listening.ts";

// Goal: no account can have all connections of the server with requests in progress, whatever its requests wait for.
// Method: a route that responds when the test lets it, on a server with eight connections.

const CONNECTIONS = 8;
const HALF = CONNECTIONS / 2;

/** Responds when the gate opens. */
const createGatedEndpoint = (gate: Promise<void>) => {
  const counts = { begun: 0 };
  const route = endpoint({
    id: "wait",
    route: "POST /v1/wait",
    tag: "Service",
    tool: null,
    summary: "Wait.",
    price: null,
    access: "verification:write",
    forVisitors: true,
    needs: [],
    keyed: true,
    answers: [200],
    errors: ["RATE_LIMITED"],
    output: v.string(),
    async handle() {
      counts.begun++;
      await gate;
      return { status: 200, data: "waited" };
    },
  });
  return { route, counts };
};

const openOther = async (world: AppWorld): Promise<string> =>
  (await openAccount(world, { name: "Other", plan: "pro", opening: credits(0) })).liveKey;

const givenServer = async () => {
  const { promise, resolve: openGate } = Promise.withResolvers<void>();
  const { route, counts } = createGatedEndpoint(promise);
  const ctx = await startServer([route], { connectionsMax: CONNECTIONS });
  const send = (key: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${ctx.port}/v1/wait`, {
      method: "POST",
      headers: { "x-api-key": key, ...headers },
    });
  /** So many requests, once all of them are in progress. */
  const begin = async (key: string, count: number, headers: Record<string, string> = {}) => {
    const before = counts.begun;
    const requests = Array.from({ length: count }, () => send(key, headers));
    while (counts.begun < before + count) await new Promise(setImmediate);
    return requests;
  };
  return { ...ctx, send, begin, openGate };
};

test("an account uses at most half of the connections, and another account may use the rest", async () => {
  const { world, liveKey, testKey, send, begin, openGate } = await givenServer();
  const requests = await begin(liveKey, HALF);

  const [further, withTestKey] = [await send(liveKey), await send(testKey)];
  const other = await begin(await openOther(world), 1);
  openGate();

  expect([further.status, withTestKey.status]).toEqual([429, 429]);
  expect(await further.json()).toMatchObject({
    error: {
      code: "RATE_LIMITED",
      message: expect.stringContaining("Too many concurrent requests for this account; at most 4"),
      money: "nothing_charged",
      retryable: true,
    },
  });
  for (const response of await Promise.all([...requests, ...other]))
    expect(response.status).toBe(200);
});

test("a page's visitors hold slots apart from the account's", async () => {
  const { world, account, liveKey, send, begin, openGate } = await givenServer();
  const origin = "https://shop.example";
  const { secret: publicKey } = await createKey(world, {
    account,
    name: "Sign-up",
    mode: "live",
    scopes: [],
    publicUse: { origins: [origin], dailyMax: 1_000 },
  });
  const visits = await begin(publicKey, 1, { origin });

  const further = await send(publicKey, { origin });
  const requests = await begin(liveKey, HALF);
  openGate();

  expect(further.status).toBe(503);
  for (const response of await Promise.all([...visits, ...requests]))
    expect(response.status).toBe(200);
});

test("MCP refuses a public key before it reads a message", async () => {
  const { world, account, port } = await givenServer();
  const origin = `http://localhost:${port}`;
  const { secret } = await createKey(world, {
    account,
    name: "Sign-up",
    mode: "live",
    scopes: [],
    publicUse: { origins: [origin], dailyMax: 1_000 },
  });

  const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { "x-api-key": secret, origin, "content-type": "application/json" },
    body: "not a message",
  });

  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({
    error: { message: expect.stringContaining("POST /v1/verify/form, and does nothing else") },
  });
});

test("a request holds its slot until its response is sent", async () => {
  const { liveKey, send, begin, openGate } = await givenServer();
  const requests = await begin(liveKey, HALF);
  const refused = await send(liveKey);

  openGate();
  await Promise.all(requests.map(async (one) => (await one).text()));

  expect([refused.status, (await send(liveKey)).status]).toEqual([429, 200]);
});

test("a refused request with an Idempotency-Key reports retry_same_key, since it may be a repeat", async () => {
  const { liveKey, send, begin, openGate } = await givenServer();
  const requests = await begin(liveKey, HALF);

  const refused = await send(liveKey, { "idempotency-key": "k-1" });
  openGate();
  await Promise.all(requests);

  expect(await refused.json()).toMatchObject({ error: { money: "retry_same_key" } });
});

test("an MCP tool call holds a slot and reports retry_same_key when refused", async () => {
  const { liveKey, port, begin, openGate } = await givenServer();
  const requests = await begin(liveKey, HALF);

  const refused = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: "POST",
    headers: { "x-api-key": liveKey, "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  openGate();
  await Promise.all(requests);

  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { money: "retry_same_key" } });
});

test("an account holds at most as many slots as are free", () => {
  const take = createShares("requests", { perShare: 100, inAll: 64 });
  const fill = (account: string): number => {
    let held = 0;
    try {
      for (;;) {
        take(account);
        held++;
      }
    } catch {
      return held;
    }
  };

  expect(["a", "b", "c", "d"].map(fill)).toEqual([32, 16, 8, 4]);
});

test("a refusal without free slots states that the service has too many requests", () => {
  const take = createShares("requests", { perShare: 100, inAll: 2 });
  take("a");

  expect(() => take("a")).toThrow("Too many concurrent requests right now.");
});
