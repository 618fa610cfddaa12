import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createSelfSigned } from "@mailproof/local/mail-receiver/mail-receiver";
import type { HookCall, Hooks } from "./journey.ts";

/** A name of the lab with an address of this machine, at which none of its servers speaks HTTPS. */
const HOST = "aonly.lab.mailproof.test";

export type OpenHooks = Hooks & {
  /** What a server trusts to call them: the file of NODE_EXTRA_CA_CERTS. */
  readonly certificate: string;
  readonly close: () => Promise<void>;
};

/** An endpoint for webhooks on a real socket. A server may call it with OUTBOUND_ALLOW_PRIVATE of the lab's addresses. */
export const openHooks = async (): Promise<OpenHooks> => {
  const { key, cert } = createSelfSigned(HOST, new Date());
  const received: HookCall[] = [];
  const receive = async (request: IncomingMessage, answer: ServerResponse) => {
    const headers = request.headers as Record<string, string>;
    received.push({ headers, body: await text(request) });
    answer.end();
  };
  const server = createServer({ key, cert }, (request, answer) => void receive(request, answer));
  server.listen(0);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `https://${HOST}:${port}/in`, received, certificate: cert, close };
};
