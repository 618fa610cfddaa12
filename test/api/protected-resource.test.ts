import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { createTokenVerifier } from "@mailproof/net/token-verifier";
import { expect, test } from "vitest";
import { createContext } from "../aws/events.ts";
import { toBytes, toEvent } from "../gateway.ts";
import { givenWorld } from "../given.ts";
import { serveMcp } from "../mcp/client.ts";

const ROOT = "/.well-known/oauth-protected-resource";
const PATHS = [ROOT, `${ROOT}/mcp`];
const TRUST = { issuer: "https://login.example.com", audience: "https://api.example.com/mcp" };

test.each(PATHS)(
  "%s names the token issuer without a key, on one machine and on AWS",
  async (path) => {
    const { world } = givenWorld();
    const withTokens = { ...world, accessTokens: createTokenVerifier(TRUST, world.now) };

    const here = await fetch((await serveMcp(withTokens)) + path);
    const there = await createFallbackHandler(world, TRUST)(
      toEvent({ method: "GET", url: path }),
      createContext(),
    );

    expect([here.status, there.statusCode]).toEqual([200, 200]);
    // Bare, as RFC 9728 wants it.
    const response = (await here.json()) as unknown;
    expect(response).toMatchObject({
      resource: "https://api.example.com/mcp",
      authorization_servers: ["https://login.example.com"],
      bearer_methods_supported: ["header"],
      scopes_supported: expect.arrayContaining(["verification:write", "account:read"]),
    });
    expect(JSON.parse(toBytes(there).toString())).toEqual(response);
  },
);

test.each(PATHS)("where no issuer is trusted %s is 404", async (path) => {
  const { world } = givenWorld();

  expect((await fetch((await serveMcp(world)) + path)).status).toBe(404);
  const there = await createFallbackHandler(world, null)(
    toEvent({ method: "GET", url: path }),
    createContext(),
  );
  expect(there.statusCode).toBe(404);
});
