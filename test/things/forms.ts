import type { AppWorld } from "@mailproof/core/app-world";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { ORIGIN } from "./control.ts";

export const ROUTE = "POST /v1/verify/form";

export const whenCreated = (world: AppWorld, key: string, body: object = {}) =>
  send(world, "POST /v1/api-keys", {
    key,
    body: { name: "Sign-up", mode: "live", public: { origins: [ORIGIN] }, ...body },
  });

/** An account with a public key, and a visitor of its page. */
export const givenForm = async ({ balance = 100, limit = 1_000, mode = "live" } = {}) => {
  const ctx = await given({ balance });
  const { data } = await whenCreated(ctx.world, ctx.liveKey, {
    mode,
    public: { origins: [ORIGIN], daily_limit: limit },
  });
  const publicKey: string = data.key;
  const ask = (
    email: unknown,
    { origin = ORIGIN as string | null, ip = "192.0.2.1", key = null as string | null } = {},
  ) =>
    send(ctx.world, ROUTE, {
      key: publicKey,
      body: { email },
      clientIp: ip,
      headers: {
        ...(origin !== null && { origin }),
        ...(key !== null && { "idempotency-key": key }),
      },
    });
  return { ...ctx, keyId: data.key_id as string, publicKey, ask };
};
