import { createSocket } from "node:dgram";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import type { Table } from "@mailproof/core/ports/table";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import { verify } from "@mailproof/core/verify/verify";
import { withDeadline } from "@mailproof/mail/dns/deadline";
import { createLists } from "@mailproof/mail/lists/lists";
import { createHttpsClient } from "@mailproof/net/https";
import { countOwnErrors } from "@mailproof/net/local-resource-errors";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import { connectDirectly } from "@mailproof/net/smtp-wire";
import { createProxyConnect } from "@mailproof/net/socks";

// A process that has no descriptor left, started under `ulimit -n`. It prints what every way out of it came to.

const now = () => new Date();
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
/** A name server that fails: a resolver with this answer had the means to ask. */
const nameServer = createSocket("udp4");
nameServer.on("message", (question, { port, address }) => {
  const [QR, SERVFAIL] = [0x80, 2];
  question[2] = (question[2] ?? 0) | QR;
  question[3] = SERVFAIL;
  nameServer.send(question, port, address);
});
nameServer.bind(0, "127.0.0.1").unref();
await once(nameServer, "listening");
const servers = [`127.0.0.1:${nameServer.address().port}`];
const pool = createResolverPool({ servers, packetsPerSecond: 1_000 });
const silent = () => new Promise<never>(() => {});
const table = { get: async () => undefined, write: silent, query: silent, transact: silent };
const lab = createLists();
const engineOf = (dns: typeof pool | Parameters<typeof withDeadline>[0]) =>
  createEngine({
    dns,
    connect: connectDirectly,
    table: table as Table,
    lists: lab,
    allowed: [],
    smtp: { helo: "mail.example.com", from: "probe@example.com", port: 25 },
    slots: createLocalSlots({ now }),
    now,
    random: Math.random,
    sleep,
  });
const withDeadlineType: Parameters<typeof withDeadline>[0] = async (type) => {
  const records: readonly unknown[] =
    type === "MX" ? [{ priority: 1, exchange: "mx.example.org" }] : ["198.51.99.1"];
  return { kind: "ok", records } as never;
};

/** The first console line opens a stream; from then on it is there. */
process.stderr.write("");
process.stdout.write("");
const durations: number[] = [];
try {
  for (;;) durations.push(openSync("/dev/null", "r"));
} catch {
  // Nothing is left.
}

const options = { deepVerify: true, includeAi: false, includeEvidence: false };
const target = { ip: "127.0.0.1", port: 9, host: "mx.example.org" };
const wire = { timeoutMs: 1_000, affinityKey: "a" };
const getStatus = async (dns: Parameters<typeof withDeadline>[0]) => {
  const { status, reason } = await verify(engineOf(dns), "ann@example.org", options);
  return `${status} ${reason}`;
};
const getKind = async (name: string) => (await pool("MX", name)).kind;
const https = createHttpsClient({ dns: pool, port: 443, allowed: [] });
const result = {
  dns: await getKind("example.org"),
  oddName: await getKind("a+b.example.org"),
  smtp: await connectDirectly(target, wire),
  proxy: await createProxyConnect(["socks5://127.0.0.1:9"], now)(target, wire),
  https: await https.call({ method: "GET", url: "https://example.org/", headers: {} }),
  withoutDns: await getStatus(pool),
  withDns: await getStatus(withDeadlineType),
  counted: countOwnErrors() > 0,
};
for (const descriptor of durations) closeSync(descriptor);
const dnsAfterwards = await getKind("example.net");
process.stdout.write(JSON.stringify({ ...result, dnsAfterwards }));
process.exit(0);
