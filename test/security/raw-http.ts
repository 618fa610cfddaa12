import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { server } from "@mailproof/local/server";
import { onTestFinished } from "vitest";
import { given } from "../given.ts";

export type Heard = {
  /** The status of each answer that came over the connection, in order. */
  readonly statuses: readonly number[];
  readonly all: string;
};

/** The server of one machine, and a way to say to it what no client would. */
export const givenServer = async () => {
  const house = await given({ balance: 10 });
  const served: string[] = [];
  const newId: typeof house.world.newId = (prefix) => {
    const id = house.world.newId(prefix);
    if (prefix === "req") served.push(id);
    return id;
  };
  const listening = server({ ...house.world, newId }, () => undefined).listen(0, "127.0.0.1");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;

  const whenSaid = async (...said: readonly string[]): Promise<Heard> => {
    const socket = connect(port, "127.0.0.1");
    // A server that hangs up while we still speak has answered all the same.
    socket.on("error", () => undefined);
    const hearing = text(socket).catch(() => "");
    for (const part of said) socket.write(part, "latin1");
    socket.end();
    const all = await hearing;
    const statuses = [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    return { statuses, all };
  };
  return { ...house, port, whenSaid, served };
};

export const request = (
  line: string,
  headers: readonly string[] = [],
  { host = "Host: x.example", body = "" } = {},
): string => [line, ...(host ? [host] : []), ...headers, "", body].join("\r\n");
