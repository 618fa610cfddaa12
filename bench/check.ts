import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { analyseDomain } from "@mailproof/core/deliverability/analyse-domain";
import { listHealth } from "@mailproof/core/mail/blocklists/health";
import type { Dns } from "@mailproof/core/mail/dns/dns";
import { parseCidr } from "@mailproof/core/mail/ip";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/local/lab/lab";
import { labLists, SENDERS_BELOW } from "@mailproof/local/lab/senders";
import { resolverPool } from "@mailproof/net/dns";
import { held, type Measured, median } from "./report.ts";

// A deliverability check against the pretend network, over real sockets and without a cache: what it takes when
// name servers answer at once, and when half of them never do. Server and client share one process here.

const CHECKS = 200;
const AT_ONCE = 8;
const SILENT_CHECKS = 5;
const PACKETS_PER_SECOND = 100_000;

const SENDER = { name: "good", sendingIp: "192.0.2.10" };
const WITHOUT_KEYS = { name: "watching", sendingIp: "192.0.2.19" };

const now = () => new Date();
const sleep = (ms: number) => setTimeout(ms, undefined, { ref: false });

const checkerIn = (lab: Lab) => {
  const isHealthy = listHealth(now);
  return (dns: Dns, { name, sendingIp }: typeof SENDER) =>
    analyseDomain(
      { dns, listDns: dns, now, sleep },
      {
        domain: `${name}.${SENDERS_BELOW}.${LAB_ZONE}`,
        sendingIp,
        randomLabel: "r4nd0m",
        allowed: [parseCidr(lab.smtpAddresses) ?? []].flat(),
        blocklists: { lists: labLists(LAB_ZONE), keys: {}, isHealthy },
      },
    );
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

const oneAfterAnother = async (count: number, work: () => Promise<unknown>) => {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) times.push(await timed(work));
  return times.toSorted((a, b) => a - b);
};

/** A name server that takes questions and says nothing. */
const startSilence = async () => {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { address: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
};

/** Half of all names, and another half for each seed. */
const isSilent = (name: string, seed: number): boolean =>
  createHash("sha1").update(`${seed} ${name}`).digest().readUInt8() % 2 === 0;

export const run = async (): Promise<readonly Measured[]> => {
  const lab = await startLab({ companies: 0 });
  const silence = await startSilence();
  const [dns, silent] = [lab.dns, silence.address].map((server) =>
    resolverPool({ servers: [server], packetsPerSecond: PACKETS_PER_SECOND }),
  ) as [Dns & { close: () => void }, Dns & { close: () => void }];
  try {
    const check = checkerIn(lab);
    const [first] = await oneAfterAnother(1, () => check(dns, SENDER));

    const before = lab.stats().dnsQueries;
    const alone = await oneAfterAnother(CHECKS, () => check(dns, SENDER));
    const asked = (lab.stats().dnsQueries - before) / CHECKS;
    const askedBefore = lab.stats().dnsQueries;
    await check(dns, WITHOUT_KEYS);
    const askedWithoutKeys = lab.stats().dnsQueries - askedBefore;

    const side = () => oneAfterAnother(CHECKS / AT_ONCE, () => check(dns, SENDER));
    const togetherMs = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, side)));

    let seed = 0;
    const halfSilent = await oneAfterAnother(SILENT_CHECKS, () => {
      seed += 1;
      const here = seed;
      const dnsOfBoth: Dns = (type, name) => (isSilent(name, here) ? silent : dns)(type, name);
      return check(dnsOfBoth, SENDER);
    });

    return [
      held("checkFirst", first ?? 0),
      held("checkMedian", median(alone)),
      held("checkP99", alone[Math.floor(CHECKS * 0.99)] ?? 0),
      held("checkQuestions", asked),
      held("checkFewer", askedWithoutKeys / asked),
      { what: `checks, ${AT_ONCE} at once`, value: (CHECKS / togetherMs) * 1000, unit: "checks/s" },
      held("checkSilent", halfSilent.at(-1) ?? 0),
    ];
  } finally {
    dns.close();
    silent.close();
    silence.close();
    await lab.close();
  }
};
