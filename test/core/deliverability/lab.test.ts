import { setTimeout } from "node:timers/promises";
import { analyseDomain } from "@mailproof/core/deliverability/analyse-domain";
import { listHealth } from "@mailproof/core/mail/blocklists/health";
import { listAt } from "@mailproof/core/mail/blocklists/lists";
import { parseCidr } from "@mailproof/core/mail/ip";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/local/lab/lab";
import {
  BLOCKLIST,
  REFUSING_BLOCKLIST,
  SENDERS,
  SENDERS_BELOW,
} from "@mailproof/local/lab/senders";
import { resolverPool } from "@mailproof/net/dns";
import { afterAll, beforeAll, expect, test } from "vitest";

// The whole check against the pretend network's senders, over a real DNS server on a real socket.

let lab: Lab;
let dns: ReturnType<typeof resolverPool>;
beforeAll(async () => {
  lab = await startLab({
    companies: 0,
    zones: {
      "2.0.192.in-addr.arpa": { "10.2.0.192.in-addr.arpa": { PTR: ["out.example"] } },
      example: { "out.example": { A: ["192.0.2.10"] } },
    },
  });
  dns = resolverPool({ servers: [lab.dns], packetsPerSecond: 5_000 });
});
afterAll(async () => {
  dns.close();
  await lab.close();
});

const now = () => new Date();
const isHealthy = listHealth(now);

const whenChecked = async (name: string) => {
  const sender = SENDERS.find((one) => one.name === name);
  const report = await analyseDomain(
    { dns, listDns: dns, now, sleep: (ms) => setTimeout(ms, undefined, { ref: false }) },
    {
      domain: `${name}.${SENDERS_BELOW}.${LAB_ZONE}`,
      sendingIp: sender?.sendingIp,
      randomLabel: "r4nd0m",
      allowed: [parseCidr(lab.smtpAddresses) ?? []].flat(),
      blocklists: {
        lists: [BLOCKLIST, REFUSING_BLOCKLIST].map((list) => listAt(`${list}.${LAB_ZONE}`)),
        keys: {},
        isHealthy,
      },
    },
  );
  if (report.kind !== "report") throw new Error(`Nothing was found out about ${name}.`);
  return report;
};

type Row = readonly [
  name: string,
  score: number,
  grade: string,
  issues: readonly string[],
  first: readonly string[],
];

// SPF is read by its end alone here, so "lookups", which is about nothing else, is left to SPF's own tests.
test.each<Row>([
  ["good", 99, "A", ["DMARC_NP"], ["dmarc_sp", "mta_sts"]],
  [
    "bare",
    35,
    "F",
    ["SPF_MISSING", "DKIM_NXDOMAIN", "DMARC_MISSING", "PTR_MISSING"],
    ["add_spf", "add_dkim", "add_dmarc", "ptr_missing"],
  ],
  [
    "open",
    46,
    "F",
    ["SPF_PLUS_ALL", "DKIM_NXDOMAIN", "DMARC_P_NONE", "DMARC_NP", "DMARC_NO_RUA", "PTR_MISSING"],
    ["add_dkim", "spf_plus_all", "dmarc_enforce", "ptr_missing"],
  ],
  [
    "double",
    35,
    "F",
    ["SPF_MULTIPLE", "DKIM_NXDOMAIN", "DMARC_MULTIPLE", "PTR_MISSING"],
    ["merge_spf", "dmarc_multiple", "add_dkim", "ptr_missing"],
  ],
  [
    "weak",
    81,
    "B",
    [
      "DKIM_1024",
      "DKIM_TESTING",
      "DMARC_P_QUARANTINE",
      "DMARC_NP",
      "DMARC_PCT",
      "DMARC_NO_RUA",
      "PTR_MISSING",
    ],
    ["ptr_missing", "dkim_rotate_2048", "dkim_testing"],
  ],
  [
    "listed",
    90,
    "A",
    ["DMARC_NP", `LISTED:${BLOCKLIST}.${LAB_ZONE}`, "PTR_MISSING"],
    ["ptr_missing", `delist:${BLOCKLIST}.${LAB_ZONE}`, "dmarc_sp"],
  ],
])("%s has %i points, an %s", async (name, score, grade, issues, first) => {
  const report = await whenChecked(name);
  const { mx, spf, dkim, dmarc, reputation, reverseDns } = report;
  const found = [mx, spf, dkim, dmarc, reputation, reverseDns].flatMap((of) => of?.issues ?? []);

  expect(found.filter(({ costPoints }) => costPoints > 0).map(({ id }) => id)).toEqual(issues);
  expect(report.scored).toMatchObject({ score, grade });
  expect(report.recommendations.slice(0, first.length).map(({ id }) => id)).toEqual(first);
});

test("a list that refuses everybody is left out, and the other one counts", async () => {
  expect((await whenChecked("good")).reputation).toMatchObject({
    total: 2,
    checked: 1,
    skipped: 1,
    listed: 0,
  });
});

test("what a domain hints at is what it lacks", async () => {
  const idsOf = async (name: string) => (await whenChecked(name)).hints.map(({ id }) => id);

  expect(await idsOf("good")).toEqual(["MTA_STS_MISSING", "BIMI_MISSING"]);
  expect(await idsOf("bare")).toEqual(["MTA_STS_MISSING", "TLS_RPT_MISSING", "BIMI_MISSING"]);
});
