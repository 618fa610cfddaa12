import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { SCOPES, type Scope } from "@mailproof/core/accounts/scopes";
import { describe, expect, test } from "vitest";
import { given, givenKey } from "../given.ts";
import { send } from "../send.ts";
import { recordUses } from "./port-uses.ts";
import { createUnknownKey } from "./used-account.ts";

// Goal: a key opens what it is for. Whatever else it is tried on is refused before any work is done, and before a
// word of the body is read.
// The same for access tokens is in test/story/access-tokens.test.ts.

// The write stores when the key was last used.
const LOOKED_AT = ["table.get", "table.get", "rateLimit", "table.write"];

const toRoute = ({ route }: Endpoint): string => route.replaceAll(/\{\w+\}/g, "x");

const tryRoute = async (endpoint: Endpoint, scopes: readonly Scope[], mode: "live" | "test") => {
  const ctx = await given({ balance: 10 });
  const key = await givenKey(ctx.world, ctx.account, { scopes, mode });
  const { world, uses } = recordUses(ctx.world);
  let isRead = false;
  const response = await send(world, toRoute(endpoint), {
    key,
    readBody: async () => {
      isRead = true;
      return {};
    },
  });
  return { ...response, isRead, ports: uses.map(({ port }) => port) };
};

const closed = endpoints.filter(({ access }) => access !== "public");

test("only the health of the service and the list of prices need no key", () => {
  expect(endpoints.filter((one) => !closed.includes(one)).map(({ route }) => route)).toEqual([
    "GET /health",
    "GET /v1/catalog",
  ]);
});

describe.each(closed)("$route", (endpoint) => {
  const { access } = endpoint;

  test.each(SCOPES.filter((scope) => scope !== access))("refuses a key for %s", async (scope) => {
    for (const mode of ["live", "test"] as const) {
      const response = await tryRoute(endpoint, [scope], mode);

      expect(response).toMatchObject({ statusCode: 403, isRead: false, ports: LOOKED_AT });
    }
  });

  test("refuses a key for nothing", async () => {
    expect(await tryRoute(endpoint, [], "live")).toMatchObject({
      statusCode: 403,
      isRead: false,
      ports: LOOKED_AT,
    });
  });

  test("takes a key with its scope alone, or is for unrestricted keys", async () => {
    const scopes = access === "unrestricted" ? SCOPES : [access as Scope];

    const { statusCode } = await tryRoute(endpoint, scopes, "live");

    expect([401, 403].includes(statusCode)).toBe(access === "unrestricted");
  });
});

const account = "GET /v1/account";

test("a revoked key gets the same response as a key that never existed, by the same uses of the ports", async () => {
  const ctx = await given();
  await send(ctx.world, "DELETE /v1/api-keys/key_1", { key: ctx.liveKey });

  const [revoked, never] = await Promise.all(
    [ctx.liveKey, createUnknownKey(ctx.world)].map(async (key) => {
      const { world, uses } = recordUses({ ...ctx.world, newId: () => "req_1" });
      return {
        response: await send(world, account, { key }),
        ports: uses.map(({ port }) => port),
      };
    }),
  );

  expect(revoked?.response.statusCode).toBe(401);
  expect(revoked).toEqual(never);
});

test("a revoked key opens no route", async () => {
  const ctx = await given();
  await send(ctx.world, "DELETE /v1/api-keys/key_1", { key: ctx.liveKey });

  for (const endpoint of closed)
    expect((await send(ctx.world, toRoute(endpoint), { key: ctx.liveKey })).statusCode).toBe(401);
});

test("the key itself is no part of what is looked up, so a look-up's time reveals nothing of it", async () => {
  const { world, liveKey } = await given();
  const { world: watched, uses } = recordUses(world);
  await send(watched, account, { key: liveKey });

  const usedArgs = uses.map(({ args }) => args).join(" ");
  expect(usedArgs).toContain("KEY#");
  expect(usedArgs).not.toContain(liveKey.slice("mp_live_".length, -6));
});
