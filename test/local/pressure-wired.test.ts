import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { expect, onTestFinished, test, vi } from "vitest";
import { send, whenVerified } from "../app/send.ts";
import { createFolder } from "../servers/running.ts";

test("the service of one machine asks its own meter: paid work is refused, and reads go on", async () => {
  const usage = process.memoryUsage();
  const ctx = createApp(readEnvironment({ MAILPROOF_DIR: createFolder() }), () => "", null);
  onTestFinished(() => ctx.close());
  expect(ctx.world.pressure()).toBeNull();
  const opening = { name: "Ann's Shop", plan: "pro", opening: credits(10) } as const;
  const { liveKey: key } = await openAccount(ctx.world, opening);
  vi.spyOn(process, "memoryUsage").mockReturnValue({ ...usage, heapUsed: Number.MAX_SAFE_INTEGER });
  onTestFinished(() => void vi.restoreAllMocks());

  await vi.waitUntil(() => ctx.world.pressure() === "memory_short", { timeout: 20_000 });

  const verified = await whenVerified(ctx.world, key, { email: "ann@example.com" });
  expect(verified.statusCode).toBe(503);
  expect((await send(ctx.world, "GET /v1/account", { key })).statusCode).toBe(200);
});
