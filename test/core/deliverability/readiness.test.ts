import { runLookups } from "@mailproof/core/deliverability/dns-lookups";
import type { Evidence } from "@mailproof/core/deliverability/progress/evidence";
import { chooseNext } from "@mailproof/core/deliverability/progress/next-step";
import { judgeReadiness } from "@mailproof/core/deliverability/progress/readiness";
import { judgeSteps } from "@mailproof/core/deliverability/progress/steps";
import { mergeReports } from "@mailproof/core/deliverability/reports/merge-reports";
import { expect, test } from "vitest";
import { withDnsLookups } from "../../app/dns-lookups.ts";
import { given } from "../../app/given.ts";
import { asRows } from "../../runner/as-rows.ts";
import { GOOD } from "../../things/mails.ts";
import { uploadReport } from "../../things/reports.ts";

const FAILED = { dkim: "fail", spf: "fail", auth: "" };
const OTHER = "<spf><domain>bounce.firm.example</domain><result>pass</result></spf>";
const DAY_MS = 86_400_000;

type Report = Parameters<typeof uploadReport>[2] & {};
type Rows = NonNullable<Report["records"]>;

type Case = {
  readonly records?: Rows;
  /** So many days before today, one report each. */
  readonly days?: readonly number[];
  readonly policy?: string;
  readonly record?: string;
  /** Age of the check. */
  readonly checkedDaysAgo?: number;
  readonly more?: Partial<Evidence>;
};

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** What was observed of a domain: reports by their files, and a check of a zone. */
const observe = async ({
  records = [{ count: 20 }],
  days = range(1, 14),
  policy = "<p>none</p>",
  record = "v=DMARC1; p=none; rua=mailto:d@example.com",
  checkedDaysAgo = 0,
  more = {},
}: Case = {}): Promise<Evidence> => {
  const { world: plain, liveKey, account } = await given();
  const zone = { ...GOOD, "_dmarc.example.com": { TXT: [record] } };
  const world = withDnsLookups(plain, zone);
  for (const daysBefore of days)
    await uploadReport(world, liveKey, { daysBefore, records, policy });
  const report = await runLookups(world, world.names, { domain: "example.com", sendingIp: null });
  if (report.kind !== "report") throw new Error("no verdict");
  const now = world.now();
  const payer = { account, mode: "live" } as const;
  return {
    domain: "example.com",
    now,
    check: {
      id: "check",
      checkedAt: new Date(now.getTime() - checkedDaysAgo * DAY_MS),
      report,
    },
    test: null,
    reports: await mergeReports(world, payer, {
      domain: "example.com",
      days: 15,
      authenticatedOnly: true,
    }),
    ...more,
  };
};

const judge = async (one: Case = {}) => {
  const evidence = await observe(one);
  const readiness = judgeReadiness(evidence);
  const steps = judgeSteps(evidence, readiness);
  return {
    ...readiness,
    codes: readiness.reasons.map(({ code }) => code),
    steps,
    next: chooseNext(evidence, steps, readiness),
  };
};

test("a domain with two weeks of aligned mail is ready for the next policy", async () => {
  expect(await judge()).toMatchObject({ isReady: true, readyFor: "quarantine", codes: [] });
  expect(
    await judge({
      policy: "<p>quarantine</p>",
      record: "v=DMARC1; p=quarantine; rua=mailto:d@example.com",
    }),
  ).toMatchObject({ isReady: true, readyFor: "reject" });
});

/** What was observed, and why it is not ready. */
const CASES: readonly (readonly [what: string, observed: Case, codes: readonly string[]])[] =
  asRows`
  seven days with reports | ${{ days: range(1, 7) }} | []
  six days with reports | ${{ days: range(1, 6) }} | [too_few_days]
  the earliest of seven days just inside the window | ${{ days: range(8, 14) }} | []
  the earliest of seven days just outside it | ${{ days: range(9, 15) }} | [too_few_days]
  days before the window alone | ${{ days: range(15, 30) }} | [no_reports]
  two weeks of the policy before | ${{ policy: "<p>reject</p>" }} | [too_few_days]
  100 messages | ${{ days: range(1, 10), records: [{ count: 10 }] }} | []
  99 messages and forwarded ones | ${{ days: range(1, 9), records: [{ count: 11 }, { ...FAILED, count: 5, reasons: ["forwarded"] }] }} | [too_few_messages]
  exactly 98% aligned | ${{ records: [{ count: 98 }, { ...FAILED, ip: "198.51.100.1", count: 2 }] }} | []
  less than 98% aligned | ${{ records: [{ count: 979 }, { ...FAILED, ip: "198.51.100.1", count: 21 }] }} | [low_aligned_share]
  half of the mail forwarded or of a list, and the rest aligned
    | ${{ records: [{ count: 50 }, { ...FAILED, count: 25, reasons: ["forwarded"] }, { ...FAILED, ip: "198.51.100.1", count: 25, reasons: ["mailing_list"] }] }} | []
  a sender that passes as another domain at exactly 1% | ${{ records: [{ count: 99 }, { ...FAILED, ip: "198.51.100.1", count: 1, auth: OTHER }] }} | []
  a sender that passes as another domain above 1% | ${{ records: [{ count: 985 }, { ...FAILED, ip: "198.51.100.1", count: 15, auth: OTHER }] }} | [unaligned_senders]
  a service above 1% from two addresses of less
    | ${{ records: [{ count: 984 }, ...["203.0.113.1", "203.0.113.2"].map((ip) => ({ ...FAILED, ip, count: 8, auth: "<spf><domain>bnc.mailjet.com</domain><result>pass</result></spf>" }))] }}
    | [unaligned_senders]
  5% that are aligned only by SPF | ${{ records: [{ count: 95 }, { ip: "198.51.100.1", count: 5, dkim: "fail" }] }} | []
  6% that are aligned only by SPF | ${{ records: [{ count: 94 }, { ip: "198.51.100.1", count: 6, dkim: "fail" }] }} | [spf_only_sources]
  a policy that is only tested | ${{ record: "v=DMARC1; p=quarantine; t=y; rua=mailto:d@example.com" }} | []
  no address for reports | ${{ record: "v=DMARC1; p=none" }} | [reports_not_requested]
  no DMARC record | ${{ record: "" }} | [not_published too_few_days]
  a policy of reject | ${{ record: "v=DMARC1; p=reject; rua=mailto:d@example.com" }} | [already_strict]
  a check of 14 days ago | ${{ checkedDaysAgo: 14 }} | []
  a check of 15 days ago | ${{ checkedDaysAgo: 15 }} | [not_checked]
  no check | ${{ more: { check: null } }} | [not_checked]
`;

test.each(CASES)(
  "a domain's readiness for a stricter DMARC policy follows from %s",
  async (_what, observed, codes) => {
    const { isReady, codes: found } = await judge(observed);

    expect(found).toEqual(codes);
    expect(isReady).toBe(codes.length === 0);
  },
);

test("reports of one receiver suffice for readiness", async () => {
  const { reporters } = (await observe()).reports;

  expect(Object.keys(reporters)).toEqual(["google.com"]);
  expect(await judge()).toMatchObject({ isReady: true });
});

test("the aligned share counts the sum of a large report's smallest sources", async () => {
  const evidence = await observe({
    records: [{ count: 970 }, { ...FAILED, ip: "198.51.100.1", count: 30 }],
  });
  const { dmarc } = evidence.reports;
  const sources = dmarc.sources.map((one) => (one.ip === "192.0.2.1" ? one : { ...one, ip: null }));
  const { reasons } = judgeReadiness({
    ...evidence,
    reports: { ...evidence.reports, dmarc: { ...dmarc, sources } },
  });

  expect(reasons.map(({ code }) => code)).toEqual(["low_aligned_share"]);
});

test("the readiness reports too many reports, and not too few days, when more arrived than the service reads", async () => {
  const evidence = await observe({ days: range(1, 3) });
  const readFor = (reports: Evidence["reports"]) =>
    judgeReadiness({ ...evidence, reports }).reasons.map(({ code }) => code);

  expect(readFor({ ...evidence.reports, isTruncated: true })).toEqual([
    "too_many_reports",
    "too_few_messages",
  ]);
  const week = await observe({ days: range(1, 7) });
  expect(readFor({ ...week.reports, isTruncated: true })).toEqual([]);
});

test("the readiness asks for a new check when reports of more than a day after the check show another policy", async () => {
  const days = range(0, 13);
  const reported = { policy: "<p>quarantine</p>", days };

  expect(await judge({ ...reported, checkedDaysAgo: 3 })).toMatchObject({
    policy: "quarantine",
    codes: ["not_checked"],
    next: { code: "check_domain" },
  });
  expect(await judge({ ...reported, checkedDaysAgo: 1 })).toMatchObject({ policy: "none" });
});

test.each([
  ["sp=none", "v=DMARC1; p=reject; sp=none; rua=mailto:d@example.com"],
  ["np=quarantine", "v=DMARC1; p=reject; np=quarantine; rua=mailto:d@example.com"],
])(
  "the tag %s below a policy of reject leaves the last step open, and the readiness proposes its record",
  async (tag, record) => {
    const { steps, next } = await judge({ record, policy: "<p>reject</p>" });

    expect(steps.enforced).toMatchObject({
      status: "open",
      missing: [`Subdomains have a weaker policy: ${tag}.`],
    });
    expect(next).toMatchObject({
      code: "protect_subdomains",
      proposal: { record: { name: "_dmarc.example.com" } },
    });
  },
);

test("a policy that is strict in every tag completes all steps but the test mail, and leaves no next step", async () => {
  const record = "v=DMARC1; p=reject; np=reject; rua=mailto:d@example.com";
  const { steps, next } = await judge({ record, policy: "<p>reject</p>" });

  expect(Object.values(steps).map(({ status }) => status)).toEqual([
    "done",
    "open",
    "done",
    "done",
  ]);
  expect(next.code).toBe("keep_watching");
});

type Result = "pass" | "fail" | "none" | "temperror" | "permerror";

const createTest = (result: Result, daysAgo: number): Evidence["test"] => ({
  id: "test",
  receivedAt: new Date(Date.parse("2026-11-21") - daysAgo * DAY_MS),
  report: { dmarc: { result, dkim: { isAligned: false } }, findings: [] } as never,
});

test.each([
  ["pass", "done"],
  ["fail", "failing"],
  ["permerror", "failing"],
  ["none", "open"],
  ["temperror", "open"],
] as const)("a test mail with the DMARC result %s turns its step to %s", async (result, status) => {
  const { steps } = await judge({ more: { test: createTest(result, 1) } });

  expect(steps.tested.status).toBe(status);
});

test("a failed test mail inside the window delays the next policy, and an older one does not", async () => {
  expect((await judge({ more: { test: createTest("fail", 13) } })).codes).toEqual([
    "test_mail_failed",
  ]);
  expect((await judge({ more: { test: createTest("fail", 15) } })).codes).toEqual([]);
});

test("an erased report about a test mail leaves its step open", async () => {
  const test = { ...createTest("pass", 1), report: null } as Evidence["test"];

  expect((await judge({ more: { test } })).steps.tested.status).toBe("open");
});

test("the record's step stays open, and asks for a check, when DNS did not answer about the record", async () => {
  const evidence = await observe();
  const { check } = evidence;
  if (!check) throw new Error("no check");
  for (const part of ["spf", "dkim", "dmarc"] as const) {
    const report = { ...check.report, [part]: { ...check.report[part], status: "error" } } as never;
    const unanswered = { ...evidence, check: { ...check, report } };
    const readiness = judgeReadiness(unanswered);
    const steps = judgeSteps(unanswered, readiness);

    expect(steps.published.status).toBe("open");
    expect(readiness.isReady).toBe(false);
    expect(chooseNext(unanswered, steps, readiness).code).toBe("check_domain");
  }
});
