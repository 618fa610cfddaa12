import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { CONNECTION_LIMITS, type ConnectionLimits } from "@mailproof/local/server/connections";
import { createApiServer } from "@mailproof/local/server/server";
import { onTestFinished } from "vitest";
import { given } from "../app/given.ts";

/** The real server, with these routes and one account. */
export const whenListening = (...listed: readonly Endpoint[]) => startServer(listed);

/** The same, with other limits of connections. */
export const startServer = async (
  listed: readonly Endpoint[] = endpoints,
  limits: Partial<ConnectionLimits> = {},
) => {
  const ctx = await given();
  const all = { ...CONNECTION_LIMITS, ...limits };
  const listening = createApiServer(ctx.world, () => undefined, listed, all).listen(0, "127.0.0.1");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  return { ...ctx, listening, port: (listening.address() as AddressInfo).port };
};
