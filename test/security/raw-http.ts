import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { createApiServer } from "@mailproof/local/server/server";
import { onTestFinished } from "vitest";
import { given } from "../app/given.ts";

export type RawReplies = {
  /** The status of each answer that came over the connection, in order. */
  readonly statuses: readonly number[];
  readonly all: string;
};

/** The server of one machine, and a way to say to it what no client would. */
export const setupServer = async () => {
  const ctx = await given({ balance: 10 });
  const served: string[] = [];
  const newId: typeof ctx.world.newId = (prefix) => {
    const id = ctx.world.newId(prefix);
    if (prefix === "req") served.push(id);
    return id;
  };
  const listening = createApiServer({ ...ctx.world, newId }, () => undefined).listen(
    0,
    "127.0.0.1",
  );
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;

  const sendRaw = async (...parts: readonly string[]): Promise<RawReplies> => {
    const socket = connect(port, "127.0.0.1");
    // A server that hangs up while we still speak has answered all the same.
    socket.on("error", () => undefined);
    const reading = text(socket).catch(() => "");
    for (const part of parts) socket.write(part, "latin1");
    socket.end();
    const all = await reading;
    const statuses = [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    return { statuses, all };
  };
  return { ...ctx, port, whenSent: sendRaw, served };
};

export const request = (
  line: string,
  headers: readonly string[] = [],
  { host = "Host: x.example", body = "" } = {},
): string => [line, ...(host ? [host] : []), ...headers, "", body].join("\r\n");
