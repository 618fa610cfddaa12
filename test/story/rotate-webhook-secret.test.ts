import { getItemKey } from "@mailproof/core/ports/writes";
import { expect, test } from "vitest";
import { withTable } from "../faulty-worlds.ts";
import { given } from "../given.ts";
import { send } from "../send.ts";
import { verifyCall, whenSubscribed } from "../webhooks.ts";

const ROUTE = "POST /v1/webhooks/whk_1/secret";

test("a new secret is 200, shown this once, and the old one signs nothing more", async () => {
  const ctx = await given();
  const { world, liveKey: key, servers } = ctx;
  const { data: old } = await whenSubscribed(ctx);

  const rotated = await send(world, ROUTE, { key });

  const { secret, ...fields } = rotated.data;
  expect(rotated.statusCode).toBe(200);
  expect(secret).toMatch(/^whsec_/);
  expect(secret).not.toBe(old.secret);
  expect(fields).toEqual({ ...old, secret: undefined });
  await send(world, "POST /v1/webhooks/whk_1/test", { key });
  const [received] = servers.received;
  expect(received && verifyCall(secret, received)).toMatchObject({ type: "webhook.test" });
  expect(() => received && verifyCall(old.secret, received)).toThrow("No matching signature");
  expect(JSON.stringify(ctx.table.items())).not.toContain(secret);
});

test("a secret of which it is not known whether it is in force is 503, and nothing is shown", async () => {
  const ctx = await given();
  await whenSubscribed(ctx);
  const world = withTable(ctx, {
    write: async (write) =>
      getItemKey(write).pk.startsWith("WEBHOOKS#")
        ? { outcome: "ambiguous" }
        : ctx.table.write(write),
  });

  const { statusCode, text } = await send(world, ROUTE, { key: ctx.liveKey });

  expect(statusCode).toBe(503);
  expect(text).not.toContain("whsec_");
});
