import { formatCompanyLabel, getPeople } from "@mailproof/lab/companies";
import { LAB_ZONE } from "@mailproof/lab/lab";
import { ATTACKERS_ZONES, FAT_APEXES, ONE_APEX, SILENT_APEX } from "../zones.ts";
import { type Attack, ask, counter, type Means, many, type Round, sendFile } from "./attack.ts";

// Lists that are made to keep the service busy: with slow mail hosts, odd name servers, or mere length.

/** A batch of so many addresses, none of which was asked about before. */
const batches =
  (count: number, emailAt: (n: number, means: Means) => string) =>
  (means: Means): Round => {
    const next = counter();
    return (signal) => {
      const emails = many(count, () => emailAt(next(), means));
      return ask(means, "POST /v1/verify/batch", { key: means.liveKey, body: { emails }, signal });
    };
  };

const { silentHosts, tarpits } = ATTACKERS_ZONES;

/** DNS checks ask more of one name than a verification: all its TXT, and what is below it. */
const fatDns = (means: Means): Round => {
  const apex = (n: number) => FAT_APEXES[n % FAT_APEXES.length];
  const send = batches(60, (n) => `ada@d${n}.${apex(n)}`)(means);
  const next = counter();
  return async (signal) => {
    await send(signal);
    const n = next();
    const body = { domain: `c${n}.${apex(n)}` };
    await ask(means, "POST /v1/deliverability/check", { key: means.liveKey, body, signal });
  };
};

const COMPANIES = 3_000;
const FILE_ROWS = 20_000;

/** The customers' mail hosts are asked about all of it. */
const personAt = (n: number): string => {
  const domain = `${formatCompanyLabel(1 + (n % COMPANIES))}.companies.${LAB_ZONE}`;
  const people = getPeople(domain);
  return `${people[n % people.length]?.local ?? "info"}+${n}@${domain}`;
};

const files =
  (keyOf: (means: Means) => string) =>
  (means: Means): Round => {
    const next = counter();
    return (signal) => {
      const list = many(FILE_ROWS, () => personAt(next())).join("\n");
      return sendFile(means, `email\n${list}\n`, { key: keyOf(means), signal });
    };
  };

export const listAttacks: readonly Attack[] = [
  { name: "answers of DNS of 64 KB", plan: "scale", pauseMs: 8_000, begin: fatDns },
  {
    name: "silent DNS",
    plan: "scale",
    pauseMs: 15_000,
    begin: batches(300, (n) => `ada@d${n}.${SILENT_APEX}`),
  },
  {
    name: "silent mail hosts",
    plan: "scale",
    pauseMs: 15_000,
    begin: batches(200, (n) => `ada+${n}@h${n % silentHosts.count}.${silentHosts.apex}`),
  },
  {
    name: "tarpits",
    plan: "scale",
    pauseMs: 15_000,
    begin: batches(300, (n) => `ada+${n}@h${n % tarpits.count}.${tarpits.apex}`),
  },
  {
    name: "nonexistent people at one host",
    plan: "scale",
    pauseMs: 10_000,
    begin: batches(300, (n, { company }) => `guess${n}@${company}`),
  },
  {
    name: "questions to one zone",
    plan: "scale",
    pauseMs: 15_000,
    begin: batches(1_500, (n) => `ada@d${n}.${ONE_APEX}`),
  },
  { name: "a big file", plan: "scale", pauseMs: 45_000, begin: files(({ liveKey }) => liveKey) },
  {
    name: "a free file (test key)",
    plan: "scale",
    pauseMs: 20_000,
    begin: files(({ testKey }) => testKey),
  },
];
