import { randomBytes } from "node:crypto";
import { runLookups } from "@mailproof/core/deliverability/dns-lookups";
import { LAB_ZONE, type Lab, startLab } from "@mailproof/lab/lab";
import { SENDERS, SENDERS_LABEL } from "@mailproof/lab/senders";
import { readEnvironment } from "@mailproof/local/environment";
import { openMailPorts } from "@mailproof/local/mail-ports";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asRows } from "../../runner/as-rows.ts";

// The whole check against the lab's senders, over a real DNS server on a real socket.

const now = () => new Date();

let lab: Lab;
let ports: ReturnType<typeof openMailPorts>;
beforeAll(async () => {
  lab = await startLab({ companies: 0 });
  ports = openMailPorts(readEnvironment({}), createSqliteTable(":memory:", now), lab);
});
afterAll(async () => {
  ports.close();
  await lab.close();
});

const whenChecked = (name: string) => {
  const domain = `${name}.${SENDERS_LABEL}.${LAB_ZONE}`;
  const sendingIp = SENDERS.find((one) => one.name === name)?.sendingIp ?? null;
  return runLookups({ ...ports, randomBytes }, ports.dnsLookups, { domain, sendingIp });
};

const createReport = async (name: string) => {
  const report = await whenChecked(name);
  if (report.kind !== "report") throw new Error(`Nothing was found out about ${name}.`);
  return report;
};

type Row = readonly [
  name: string,
  score: number,
  issues: readonly string[],
  first: readonly string[],
];

const ROWS: readonly Row[] = asRows`
  good | 100 | [] | [mta_sts bimi]
  news.good | 100 | [] | [mta_sts tls_rpt bimi]
  twice.good | 80 | [DMARC_MULTIPLE] | [dmarc_multiple]
  signed | 100 | [] | [mta_sts tls_rpt bimi]
  denied | 99 | [DMARC_TAG_VALUE DMARC_RUF_UNAUTHORIZED] | [dmarc_values dmarc_ruf_authorize]
  parked | 73 | [DKIM_NXDOMAIN] | [add_dkim]
  hidden | 90 | [DKIM_NOT_FOUND] | [dkim_unknown]
  weak | 82 | [DKIM_1024 DKIM_TESTING DMARC_P_QUARANTINE DMARC_PCT DMARC_NO_RUA PTR_MISSING] | [ptr_missing dkim_rotate_2048 dkim_testing dmarc_obsolete_tags]
  pool | 86 | [SPF_IP_NOT_COVERED DMARC_P_QUARANTINE LISTED:bl.lab.mailproof.test PTR_GENERIC]
    | [spf_ip_not_authorized delist:bl.lab.mailproof.test dmarc_enforce ptr_generic]
  watching | 71 | [SPF_SOFTFAIL DKIM_NXDOMAIN DMARC_P_NONE] | [add_dkim dmarc_enforce spf_softfail]
  lookups | 69 | [SPF_LOOKUPS_GT_10 SPF_LONG DMARC_P_QUARANTINE PTR_MISSING] | [spf_lookups ptr_missing spf_shorten dmarc_enforce]
  dangling | 69 | [SPF_DANGLING_INCLUDE DKIM_CNAME_DANGLING] | [spf_include_broken dkim_alias]
  bare | 35 | [SPF_MISSING DKIM_NXDOMAIN DMARC_MISSING PTR_MISSING] | [add_dkim add_spf add_dmarc ptr_missing]
  open | 47 | [SPF_PLUS_ALL DKIM_NXDOMAIN DMARC_P_NONE DMARC_NO_RUA PTR_MISSING] | [add_dkim spf_plus_all dmarc_enforce ptr_missing]
  double | 35 | [SPF_MULTIPLE DKIM_NXDOMAIN DMARC_MULTIPLE PTR_MISSING] | [merge_spf add_dkim dmarc_multiple ptr_missing]
  listed | 49 | [LISTED:bl.lab.mailproof.test PTR_MISSING] | [delist:bl.lab.mailproof.test ptr_missing]
  flaky | 100 | [] | [mta_sts tls_rpt]
`;

test.each(ROWS)(
  "the check of the lab's domain %s returns %i points with the expected issues",
  async (name, score, issues, first) => {
    const report = await createReport(name);
    const { mx, spf, dkim, dmarc, reputation, reverseDns } = report;
    const found = [mx, spf, dkim, dmarc, reputation, reverseDns].flatMap((of) => of?.issues ?? []);

    expect(found.filter(({ costPoints }) => costPoints > 0).map(({ id }) => id)).toEqual(issues);
    expect(report.scored).toMatchObject({
      score,
      grade: SENDERS.find((one) => one.name === name)?.grade,
    });
    expect(report.recommendations.slice(0, first.length).map(({ id }) => id)).toEqual(first);
  },
);

test("the table of expected checks covers every sender of the lab and every grade", () => {
  expect([...ROWS.map(([name]) => name), "failing"]).toEqual(SENDERS.map(({ name }) => name));
  expect(new Set(SENDERS.map(({ grade }) => grade))).toEqual(
    new Set(["A", "B", "C", "D", "F", null]),
  );
});

test("the check returns no verdict when all name servers of the domain fail", async () => {
  expect(await whenChecked("failing")).toEqual({ kind: "no_verdict", why: "unanswered" });
});

test("the check reads a record longer than a character-string whole, however long the zone's name is", async () => {
  const { spf } = await createReport("lookups");

  expect(spf.record?.length).toBeGreaterThan(255);
  expect(spf).toMatchObject({ lookups: 11, evaluation: { result: "pass" } });
});

test("the check reports a pinned key when the resolver validated its record", async () => {
  const { mx } = await createReport("signed");

  expect(mx.issues.map(({ id }) => id)).toEqual([
    "MX_SINGLE",
    "DANE_PRESENT",
    "EMAIL_VERIFICATION_NONE",
  ]);
});

test("the check ignores a blocklist that refuses every query, and counts the other one", async () => {
  expect((await createReport("good")).reputation).toMatchObject({
    total: 2,
    checked: 1,
    skipped: 1,
    listed: 0,
  });
});
