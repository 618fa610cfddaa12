import { tokensOf } from "@mailproof/net/tokens";
import { expect, test } from "vitest";
import { givenWorld } from "../given.ts";
import { send } from "../send.ts";

const ASKED = "GET /.well-known/oauth-protected-resource";

test("anybody may read who gives out tokens, and for what: 200", async () => {
  const { world } = givenWorld();
  const trusted = { issuer: "https://login.example.com", audience: "https://api.example.com/mcp" };

  const told = await send({ ...world, tokens: tokensOf(trusted, world.now) }, ASKED);

  expect(told.statusCode).toBe(200);
  // Bare, as RFC 9728 wants it.
  expect(JSON.parse(told.text)).toMatchObject({
    resource: "https://api.example.com/mcp",
    authorization_servers: ["https://login.example.com"],
    bearer_methods_supported: ["header"],
    scopes_supported: expect.arrayContaining(["verification:write", "account:read"]),
  });
});

test("where no issuer is trusted it is 404", async () => {
  const { world } = givenWorld();

  expect(await send(world, ASKED)).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
});
