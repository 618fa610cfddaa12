import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { endpoints } from "@mailproof/api/endpoints";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import type { AppWorld } from "@mailproof/core/app-world";
import { CONNECTION_LIMITS, type ConnectionLimits } from "@mailproof/local/server/connections";
import { createApiServer } from "@mailproof/local/server/server";
import { onTestFinished } from "vitest";
import { given } from "../app/given.ts";

/** The real server, with these routes and one account. */
export const whenListening = (...listed: readonly Endpoint[]) => startServer(listed);

/** The real server, with other limits of connections. */
export const startServer = async (
  listed: readonly Endpoint[] = endpoints,
  limits: Partial<ConnectionLimits> = {},
) => {
  const ctx = await given();
  return { ...ctx, ...(await listen(ctx.world, listed, limits)) };
};

const listen = async (
  world: AppWorld,
  listed: readonly Endpoint[] = endpoints,
  limits: Partial<ConnectionLimits> = {},
) => {
  const all = { ...CONNECTION_LIMITS, ...limits };
  const listening = createApiServer(world, () => undefined, listed, all).listen(0, "127.0.0.1");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  return { listening, port: (listening.address() as AddressInfo).port };
};

export type RawReplies = {
  /** The status of each answer that came over the connection, in order. */
  readonly statuses: readonly number[];
  readonly all: string;
};

/** The real server, and `whenSent`, which sends it bytes that no client would send. */
export const setupServer = async () => {
  const ctx = await given({ balance: 10 });
  const served: string[] = [];
  const newId: typeof ctx.world.newId = (prefix) => {
    const id = ctx.world.newId(prefix);
    if (prefix === "req") served.push(id);
    return id;
  };
  const { port } = await listen({ ...ctx.world, newId });

  const whenSent = async (...parts: readonly string[]): Promise<RawReplies> => {
    const socket = connect(port, "127.0.0.1");
    // The server may close the connection before the last byte, and still has answered.
    socket.on("error", () => undefined);
    const reading = text(socket).catch(() => "");
    for (const part of parts) socket.write(part, "latin1");
    socket.end();
    const all = await reading;
    const statuses = [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    return { statuses, all };
  };
  return { ...ctx, port, whenSent, served };
};

export const request = (
  line: string,
  headers: readonly string[] = [],
  { host = "Host: x.example", body = "" } = {},
): string => [line, ...(host ? [host] : []), ...headers, "", body].join("\r\n");
