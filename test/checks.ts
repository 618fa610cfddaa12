import type { World } from "@mailproof/core/world";
import { send, type Told } from "./send.ts";

/** One check, under an Idempotency-Key or without one. */
export const whenChecked = (
  world: World,
  key: string,
  body: unknown = { domain: "example.com" },
  idempotencyKey?: string,
): Promise<Told> =>
  send(world, "POST /v1/deliverability/check", {
    key,
    body,
    ...(idempotencyKey !== undefined && { headers: { "idempotency-key": idempotencyKey } }),
  });
