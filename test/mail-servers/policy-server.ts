import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export type PolicyServer = { readonly port: number; readonly stop: () => Promise<void> };

const DELAY_MS = 300_000;

/** A policy service of Postfix that greylists by triplet as postgrey does: five minutes, in postgrey's words. */
export const startGreylistPolicy = async (now: () => Date): Promise<PolicyServer> => {
  const seen = new Map<string, number>();
  const actionFor = (request: string): string => {
    const field = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(request)?.[1] ?? "";
    const triplet = ["client_address", "sender", "recipient"].map(field).join(" ");
    const atMs = now().getTime();
    const firstMs = seen.get(triplet) ?? atMs;
    seen.set(triplet, firstMs);
    return atMs - firstMs < DELAY_MS ? "DEFER_IF_PERMIT Greylisted, see you later" : "DUNNO";
  };
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    let unread = "";
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      unread += chunk.toString();
      for (let end = unread.indexOf("\n\n"); end >= 0; end = unread.indexOf("\n\n")) {
        socket.write(`action=${actionFor(unread.slice(0, end))}\n\n`);
        unread = unread.slice(end + 2);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
