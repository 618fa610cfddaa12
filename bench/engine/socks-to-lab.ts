import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { LabAddress } from "./job.ts";

// A peer in another language cannot be led to the lab from within. One that takes a SOCKS proxy is led here: whatever
// host it names, its port 25 is the lab's.

const NO_PASSWORD = Buffer.from([5, 0]);
const CONNECTED = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

/** As much of SOCKS 5 (RFC 1928) as a client needs that has no password and names its host. */
export const startSocksToLab = async ({ dns, smtpPort }: LabAddress): Promise<number> => {
  const resolver = new Resolver();
  resolver.setServers([dns]);
  const serve = async (client: Socket): Promise<void> => {
    await once(client, "readable");
    client.read();
    client.write(NO_PASSWORD);
    await once(client, "readable");
    const request: Buffer = client.read() ?? Buffer.alloc(0);
    const host = request.toString("latin1", 5, 5 + (request[4] ?? 0));
    const [ip = ""] = await resolver.resolve4(host);
    const server = connect({ host: ip, port: smtpPort });
    server.on("error", () => client.destroy());
    client.on("error", () => server.destroy());
    await once(server, "connect");
    client.write(CONNECTED);
    client.pipe(server).pipe(client);
  };
  const listener = createServer((client) => {
    client.on("error", () => client.destroy());
    serve(client).catch(() => client.destroy());
  });
  listener.listen(0, "127.0.0.1").unref();
  await once(listener, "listening");
  return (listener.address() as AddressInfo).port;
};
