import { createRequire } from "node:module";
import type { LabAddress } from "./job.ts";

// A peer asks the system's resolver and connects to port 25. Here, in its process alone, both lead to the lab, so
// that its own files stay as they were published.

type Callback = (error: Error | null, ...found: unknown[]) => void;
type Options = { readonly all?: boolean };

export const redirectToLab = ({ dns: server, smtpPort }: LabAddress): void => {
  // The modules as a CommonJS package sees them: those can be changed, the import of them cannot.
  const require = createRequire(import.meta.url);
  const dns = require("node:dns") as typeof import("node:dns");
  const net = require("node:net") as typeof import("node:net");
  dns.setServers([server]);

  const lookup = (host: string, options: Options, callback: Callback): void => {
    const respond = (address: string) =>
      options.all ? callback(null, [{ address, family: 4 }]) : callback(null, address, 4);
    // What "no host at all" comes to on a machine without a mail server of its own.
    if (host === "localhost") return respond("127.0.0.1");
    dns.resolve4(host, (error, addresses) =>
      error ? callback(error) : respond(addresses[0] ?? ""),
    );
  };
  const connect = net.connect;
  const connectToLab = (port: number, host: string) =>
    port === 25
      ? connect({ port: smtpPort, host: host || "localhost", lookup: lookup as never })
      : connect(port, host);
  Object.assign(net, { connect: connectToLab, createConnection: connectToLab });
};
