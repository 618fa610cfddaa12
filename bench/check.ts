import { createHash } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { analyseDomain } from "@mailproof/core/deliverability/analyse-domain";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/lab/lab";
import { createLabBlocklists, SENDERS_LABEL } from "@mailproof/lab/senders";
import { createListHealth } from "@mailproof/mail/blocklists/health";
import type { Dns } from "@mailproof/mail/dns/dns";
import { parseCidr } from "@mailproof/mail/ip";
import { createResolverPool } from "@mailproof/net/resolver-pool";
import { computeMedian, createRow, type ReportRow } from "./report.ts";

// A deliverability check against the lab, over real sockets and without a cache: what it takes when
// name servers answer at once, and when half of them never do. Server and client share one process here.

const CHECKS = 200;
const AT_ONCE = 8;
const SILENT_CHECKS = 5;
const PACKETS_PER_SECOND = 100_000;

const SENDER = { name: "good", sendingIp: "192.0.2.10" };
const WITHOUT_KEYS = { name: "watching", sendingIp: "192.0.2.19" };

const now = () => new Date();
const sleep = (ms: number) => setTimeout(ms, undefined, { ref: false });

const createChecker = (lab: Lab) => {
  const isHealthy = createListHealth(now);
  return (dns: Dns, { name, sendingIp }: typeof SENDER) =>
    analyseDomain(
      { dns, listDns: dns, now, sleep },
      {
        domain: `${name}.${SENDERS_LABEL}.${LAB_ZONE}`,
        sendingIp,
        randomLabel: "r4nd0m",
        dkimSelectors: [],
        allowed: [parseCidr(lab.smtpAddresses) ?? []].flat(),
        blocklists: { lists: createLabBlocklists(LAB_ZONE), keys: {}, isHealthy },
      },
    );
};

const measureMs = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
};

const timeSequentially = async (count: number, work: () => Promise<unknown>) => {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) times.push(await measureMs(work));
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

export const run = async (): Promise<readonly ReportRow[]> => {
  const lab = await startLab({ companies: 0 });
  const silence = await startSilence();
  const [dns, silent] = [lab.dns, silence.address].map((server) =>
    // The lab's domains are one zone, and as our own it has no limit.
    createResolverPool({
      servers: [server],
      packetsPerSecond: PACKETS_PER_SECOND,
      zoneLimits: null,
    }),
  ) as [Dns & { close: () => void }, Dns & { close: () => void }];
  try {
    const check = createChecker(lab);
    const [first] = await timeSequentially(1, () => check(dns, SENDER));

    const before = lab.stats().dnsQueries;
    const alone = await timeSequentially(CHECKS, () => check(dns, SENDER));
    const questions = (lab.stats().dnsQueries - before) / CHECKS;
    const questionsBefore = lab.stats().dnsQueries;
    await check(dns, WITHOUT_KEYS);
    const questionsWithoutKeys = lab.stats().dnsQueries - questionsBefore;

    const runChecks = () => timeSequentially(CHECKS / AT_ONCE, () => check(dns, SENDER));
    const concurrentMs = await measureMs(() =>
      Promise.all(Array.from({ length: AT_ONCE }, runChecks)),
    );

    let seed = 0;
    const halfSilent = await timeSequentially(SILENT_CHECKS, () => {
      seed += 1;
      const here = seed;
      const resolveFromBoth: Dns = (type, name) =>
        (isSilent(name, here) ? silent : dns)(type, name);
      return check(resolveFromBoth, SENDER);
    });

    return [
      createRow("checkFirst", first ?? 0),
      createRow("checkMedian", computeMedian(alone)),
      createRow("checkP99", alone[Math.floor(CHECKS * 0.99)] ?? 0),
      createRow("checkQuestions", questions),
      createRow("checkFewer", questionsWithoutKeys / questions),
      {
        what: `checks, ${AT_ONCE} at once`,
        value: (CHECKS / concurrentMs) * 1000,
        unit: "checks/s",
      },
      createRow("checkSilent", halfSilent.at(-1) ?? 0),
    ];
  } finally {
    dns.close();
    silent.close();
    silence.close();
    await lab.close();
  }
};
