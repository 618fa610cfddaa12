import type { AppWorld } from "@mailproof/core/app-world";
import { send, type TestResponse } from "./send.ts";

/** One check, under an Idempotency-Key or without one. */
export const whenChecked = (
  world: AppWorld,
  key: string,
  body: unknown = { domain: "example.com" },
  idempotencyKey?: string,
): Promise<TestResponse> =>
  send(world, "POST /v1/deliverability/check", {
    key,
    body,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });
