import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { serveZone } from "../servers/dns-server.ts";
import { listenSecure, NAME, OPEN, SELF_SIGNED } from "../servers/https-servers.ts";

type Call = { readonly headers: IncomingMessage["headers"]; readonly body: string };

/** A webhook receiver on a real socket, and the settings with which a server can reach it. */
export const givenReceiver = async (folder: string, statusOf: () => number = () => 200) => {
  const received: Call[] = [];
  const arrived = new EventTarget();
  const { port, connections } = await listenSecure(async (request, answer) => {
    received.push({ headers: request.headers, body: await text(request) });
    // A refused delivery is retried after three seconds at the earliest: long enough for a power cut.
    answer.writeHead(statusOf(), { "retry-after": "3" }).end();
    arrived.dispatchEvent(new Event("call"));
  });
  const dns = await serveZone({ [NAME]: { A: [OPEN] } });
  onTestFinished(dns.close);
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, SELF_SIGNED.cert);
  const env = {
    DNS_SERVERS: dns.address,
    OUTBOUND_ALLOW_PRIVATE: `${OPEN}/32`,
    NODE_EXTRA_CA_CERTS: ca,
  };
  const atLeast = async (calls: number): Promise<void> => {
    while (received.length < calls) await once(arrived, "call");
  };
  return { url: `https://${NAME}:${port}/in`, received, atLeast, connections, env };
};
