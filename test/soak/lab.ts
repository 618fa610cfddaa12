import { createSecureContext } from "node:tls";
import {
  PUBLIC_AND_WORTHLESS_CERTIFICATE,
  PUBLIC_AND_WORTHLESS_KEY,
} from "@mailproof/lab/certificate";
import { acceptAll, type HostBehavior } from "@mailproof/lab/host-behavior";
import { startLab } from "@mailproof/lab/lab";
import { startMailServer } from "@mailproof/lab/mail-server";
import { HOSTS_BLOCK } from "@mailproof/lab/network";
import { SENDERS_BLOCK } from "@mailproof/lab/senders";
import type { Zone } from "@mailproof/lab/zone";
import { ATTACKERS_ZONES } from "./zones.ts";

// The internet of a soak, in its own process: the lab, and beside it the name servers and mail hosts that an
// attacker runs. It ends with the process that started it.

/** Outside of the lab's own block. */
const ATTACKERS_BLOCK = "127.78.0.0/16";

const named = (group: string, number: number): string => `h${number}.${group}`;

/** So many domains, each with a mail host at an address of its own. */
const hostsOf = (group: string, third: number, count: number, behavior: HostBehavior) =>
  Array.from({ length: count }, (_, n) => ({
    name: `mx.${named(group, n)}`,
    address: `127.78.${third + Math.floor(n / 250)}.${1 + (n % 250)}`,
    behavior,
  }));

const { silentHosts, tarpits, zones } = ATTACKERS_ZONES;
const silent = hostsOf(silentHosts.apex, 0, silentHosts.count, {
  rcpt: acceptAll,
  opening: "silence",
});
// Every reply takes three seconds, and each next recipient longer: a session that is always about to be useful.
const sticky = hostsOf(tarpits.apex, 100, tarpits.count, {
  rcpt: ({ nth }) => ({ reply: "250 2.1.5 Ok", slow: nth }),
  slow: 3,
});

const zoneOf = (hosts: typeof silent): Zone =>
  Object.fromEntries(
    hosts.flatMap(({ name, address }) => [
      [name, { A: [address] }],
      [name.replace(/^mx\./, ""), { MX: [[10, name] as const] }],
    ]),
  );

const lab = await startLab({
  zones: {
    ...zones,
    [silentHosts.apex]: zoneOf(silent),
    [tarpits.apex]: zoneOf(sticky),
  },
});
const attackers = await startMailServer([...silent, ...sticky], lab.smtpPort, {
  replyMs: 0,
  slowMs: 1_000,
  secureContext: createSecureContext({
    key: PUBLIC_AND_WORTHLESS_KEY,
    cert: PUBLIC_AND_WORTHLESS_CERTIFICATE,
  }),
  memory: { waitedMs: () => 0 },
});

process.on("disconnect", () => {
  void Promise.all([lab.close(), attackers.close()]).then(() => process.exit(0));
});
process.send?.({
  DNS_SERVERS: lab.dns,
  SMTP_PORT: String(lab.smtpPort),
  SMTP_ALLOW_PRIVATE: [HOSTS_BLOCK, ATTACKERS_BLOCK, SENDERS_BLOCK].join(","),
});
