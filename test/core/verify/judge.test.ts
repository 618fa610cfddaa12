import { toWire } from "@mailproof/api/schema/verification";
import type { Engine } from "@mailproof/core/verify/engine";
import { judge } from "@mailproof/core/verify/judge";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import { STATUSES } from "@mailproof/core/verify/result";
import { BANDS } from "@mailproof/core/verify/score";
import type { DomainSignal, Signals } from "@mailproof/core/verify/signals";
import { verify } from "@mailproof/core/verify/verify";
import type { MailHosts } from "@mailproof/mail/dns/mail-hosts";
import { createLists } from "@mailproof/mail/lists/lists";
import type { Finding } from "@mailproof/mail/smtp/classify";
import fc from "fast-check";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";
import { asRows } from "../../runner/as-rows.ts";

const createFinding = (
  verdict: Finding["verdict"],
  reason: string,
  confidence = 0.95,
): Finding => ({
  verdict,
  reason,
  confidence,
  rule: "r",
  retry: null,
  aboutUs: false,
});

const ACCEPTED = createFinding("valid", "accepted");
const REFUSED = createFinding("invalid", "mailbox_not_found");
const GREYLISTED = createFinding("unknown", "greylisted");
const FULL = createFinding("risky", "mailbox_full");

const ORDINARY: Signals = {
  syntaxFault: null,
  domain: "mail_host",
  listed: {
    trap: false,
    disposable: false,
    disposableHint: false,
    role: null,
    free: false,
    squat: null,
  },
  mailbox: ACCEPTED,
  catchAll: "no",
  acceptsThenBounces: false,
  rejectsUnknownRecipients: false,
  acceptsUnknownRecipients: false,
  bounced: false,
  nameFault: null,
  hasUnusualLength: false,
  longName: null,
  botLikeness: 0,
  encrypted: false,
};
const createListed = (more: Partial<Signals["listed"]>) => ({
  listed: { ...ORDINARY.listed, ...more },
});

// The table of precedence, a line for each pair that could be mistaken for one another.
test.each(asRows<[string, Partial<Signals>, string, string]>`
  accepted, and a random recipient refused | ${{}} | valid | accepted
  no address at all | ${{ syntaxFault: "syntax.no_at", ...createListed({ trap: true }) }} | invalid | syntax.no_at
  no such domain, and a role | ${{ domain: "domain_not_found", mailbox: null, ...createListed({ role: "info" }) }} | invalid | domain_not_found
  a null MX on a disposable domain | ${{ domain: "null_mx", mailbox: null, ...createListed({ disposable: true }) }} | invalid | null_mx
  only private mail hosts | ${{ domain: "mx_unroutable", mailbox: null }} | invalid | mx_unroutable
  a trap on a disposable domain | ${createListed({ trap: true, disposable: true })} | spam_trap | listed_spam_trap
  disposable, and the mailbox refused | ${{ mailbox: REFUSED, ...createListed({ disposable: true }) }} | disposable | listed_disposable
  a role whose mailbox is refused | ${{ mailbox: REFUSED, ...createListed({ role: "info" }) }} | invalid | mailbox_not_found
  a role at a catch-all | ${{ catchAll: "yes", ...createListed({ role: "info" }) }} | role | role_account
  a role whose server could not be asked | ${{ mailbox: GREYLISTED, ...createListed({ role: "info" }) }} | role | role_account
  a name that its provider never gave, of a role | ${{ mailbox: null, nameFault: "not_a_gmail_name", ...createListed({ role: "info" }) }} | invalid | not_a_gmail_name
  accepted, and the name is unusually short | ${{ hasUnusualLength: true }} | valid | accepted
  accepted like everybody | ${{ catchAll: "yes" }} | catch_all | catch_all
  accepted, and the random recipient deferred | ${{ catchAll: "undecided" }} | risky | catch_all_unverified
  accepted, and no random recipient was asked about | ${{ catchAll: "not_tested" }} | risky | catch_all_unverified
  accepted where random recipients are always refused | ${{ catchAll: "not_tested", rejectsUnknownRecipients: true }} | valid | accepted
  accepted where a canary was, too | ${{ catchAll: "yes", acceptsUnknownRecipients: true }} | risky | provider_accepts_unknown
  accepted by a provider that bounces later | ${{ acceptsThenBounces: true, catchAll: "yes" }} | risky | accept_then_bounce
  accepted by such a provider, but it refused the random recipient | ${{ acceptsThenBounces: true }} | valid | accepted
  accepted like everybody, and the account's mail bounced | ${{ catchAll: "yes", bounced: true }} | invalid | bounced
  no reply today, and the account's mail bounced | ${{ mailbox: GREYLISTED, bounced: true }} | invalid | bounced
  accepted where a random recipient is refused, though the account's mail bounced | ${{ bounced: true }} | risky | bounced
  refused, and the account's mail bounced | ${{ mailbox: REFUSED, bounced: true }} | invalid | mailbox_not_found
  a role whose mail bounced | ${{ bounced: true, catchAll: "yes", ...createListed({ role: "info" }) }} | invalid | bounced
  a full mailbox | ${{ mailbox: FULL }} | risky | mailbox_full
  greylisted | ${{ mailbox: GREYLISTED }} | unknown | greylisted
  DNS that would not tell | ${{ domain: "dns_inconclusive", mailbox: null }} | unknown | dns_inconclusive
  no server asked | ${{ mailbox: null, catchAll: "not_tested" }} | unknown | not_probed
  accepted on a typo domain | ${createListed({ squat: "gmail.com" })} | risky | typo_domain
  a role on a typo domain that accepts everybody | ${{ catchAll: "yes", ...createListed({ squat: "gmail.com", role: "info" }) }} | risky | typo_domain
  a typo domain that could not be looked up | ${{ domain: "dns_inconclusive", mailbox: null, ...createListed({ squat: "gmail.com" }) }} | unknown | dns_inconclusive
  a long name, accepted | ${{ longName: "untried" }} | risky | long_local_part
  a long name, accepted as any is | ${{ longName: "untried", catchAll: "yes" }} | risky | long_local_part
  a long name, refused | ${{ longName: "taken", mailbox: REFUSED }} | invalid | mailbox_not_found
  a long name, deferred | ${{ longName: "untried", mailbox: GREYLISTED }} | unknown | greylisted
  a long name whose server was not asked | ${{ longName: "untried", mailbox: null }} | unknown | not_probed
  a long name where such are taken | ${{ longName: "taken", mailbox: null }} | risky | long_local_part
  a long name where such names are accepted, deferred | ${{ longName: "taken", mailbox: GREYLISTED }} | risky | long_local_part
  a long name, and a full mailbox | ${{ longName: "taken", mailbox: FULL }} | risky | mailbox_full
  a long name at no domain | ${{ longName: "taken", mailbox: null, domain: "domain_not_found" }} | invalid | domain_not_found
  only on a broad list | ${createListed({ disposableHint: true })} | valid | accepted
`)("judge returns status and reason: %s", (_, more, status, reason) => {
  expect(judge({ ...ORDINARY, ...more })).toMatchObject({ status, reason });
});

test("every status has a band, and the bands agree with the contract's words", () => {
  expect(Object.keys(BANDS).toSorted()).toEqual([...STATUSES].toSorted());
  expect(BANDS.valid.least).toBeGreaterThanOrEqual(90);
  expect(BANDS.unknown.least).toBeGreaterThan(BANDS.invalid.most);
  expect(BANDS.invalid.most).toBeLessThan(50);
});

const DOMAINS: readonly DomainSignal[] = [
  "mail_host",
  "implicit_mail_host",
  "domain_not_found",
  "null_mx",
  "no_mail_host",
  "mx_unroutable",
  "dns_inconclusive",
  "not_asked",
];
const bool = fc.boolean();
const signals: fc.Arbitrary<Signals> = fc.record({
  syntaxFault: fc.option(fc.constant("syntax.no_at"), { freq: 9 }),
  domain: fc.constantFrom(...DOMAINS),
  listed: fc.record({
    trap: bool,
    disposable: bool,
    disposableHint: bool,
    role: fc.option(fc.constant("info")),
    free: bool,
    squat: fc.constantFrom(null, "gmail.com"),
  }),
  mailbox: fc.option(
    fc.constantFrom(ACCEPTED, REFUSED, GREYLISTED, FULL, createFinding("unknown", "ip_blocked")),
  ),
  catchAll: fc.constantFrom("yes", "no", "undecided", "not_tested"),
  acceptsThenBounces: bool,
  rejectsUnknownRecipients: bool,
  acceptsUnknownRecipients: bool,
  bounced: bool,
  nameFault: fc.constantFrom(null, "not_a_gmail_name"),
  hasUnusualLength: bool,
  longName: fc.constantFrom(null, "untried", "taken"),
  botLikeness: fc.double({ min: 0, max: 1, noNaN: true }),
  encrypted: bool,
});
const confidences = fc.option(fc.integer({ min: 0, max: 95 }).map((percent) => percent / 100));

test("the score is the sum of its parts, and lies in the band of the status", () => {
  fc.assert(
    fc.property(signals, confidences, (one, confidence) => {
      const { status, score, parts } = judge(one, confidence);
      expect(parts.reduce((sum, { points }) => sum + points, 0)).toBe(score);
      expect(score).toBeGreaterThanOrEqual(BANDS[status].least);
      expect(score).toBeLessThanOrEqual(BANDS[status].most);
    }),
  );
});

const CONFIDENCES = Array.from({ length: 20 }, (_, at) => at / 20);

test.each<[string, Partial<Signals>]>([
  ["a catch-all", { catchAll: "yes" }],
  ["an undecided domain", { catchAll: "undecided" }],
  ["a generated name", { catchAll: "yes", botLikeness: 1, encrypted: true }],
])("the score of %s rises with catch_all_confidence, and an acceptance adds nothing", (_, more) => {
  const judged = CONFIDENCES.map((confidence) => judge({ ...ORDINARY, ...more }, confidence));
  const scores = judged.map(({ score }) => score);

  expect(scores).toEqual(scores.toSorted((a, b) => a - b));
  expect(new Set(scores).size).toBeGreaterThanOrEqual(14);
  expect(scores.at(-1)).toBeGreaterThanOrEqual((scores[0] ?? 0) + 20);
  expect(judged.flatMap(({ parts }) => parts.map(({ part }) => part))).not.toContain(
    "the server accepted the address",
  );
});

test("the scores of catch-all addresses differ when their confidences differ by a twentieth", () => {
  const scores = CONFIDENCES.map(
    (confidence) => judge({ ...ORDINARY, catchAll: "yes" }, confidence).score,
  );

  expect(new Set(scores).size).toBe(CONFIDENCES.length);
});

test("an unknown address scores lower when its cause is weaker evidence of a working mail server", () => {
  const untested: Signals = { ...ORDINARY, catchAll: "not_tested" };
  const scoreFor = (reason: string) =>
    judge({ ...untested, mailbox: createFinding("unknown", reason) }).score;
  const dns = judge({ ...untested, mailbox: null, domain: "dns_inconclusive" }).score;

  const scores = [
    ...["greylisted", "ip_blocked", "internal", "server_error", "timeout", "connect_failed"].map(
      scoreFor,
    ),
    dns,
  ];

  expect(scores).toEqual([47, 44, 40, 38, 36, 34, 32]);
});

test("an unknown finding never makes an address invalid", () => {
  fc.assert(
    fc.property(signals, (one) => {
      const ours = {
        ...one,
        syntaxFault: null,
        nameFault: null,
        domain: "dns_inconclusive" as const,
        mailbox: GREYLISTED,
        bounced: false,
      };
      expect(judge(ours).status).not.toBe("invalid");
    }),
  );
});

test("only an acceptance makes an address valid", () => {
  fc.assert(
    fc.property(signals, (one) => {
      expect(judge(one).status === "valid" && one.mailbox?.verdict !== "valid").toBe(false);
      expect(
        judge({ ...one, catchAll: "yes" }).status === "valid" && !one.rejectsUnknownRecipients,
      ).toBe(false);
    }),
  );
});

const DEEP = { deepVerify: true, includeAi: true, includeEvidence: false };
const HOSTS: MailHosts = {
  kind: "hosts",
  implicit: false,
  hosts: [{ host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] }],
};
const CATCH_ALLS = ["yes", "no", "undecided", "not_tested"] as const;
const VERDICTS = ["valid", "invalid", "risky", "unknown"] as const;

type Case = {
  readonly hosts?: MailHosts;
  readonly verdict?: Finding["verdict"];
  readonly catchAll?: (typeof CATCH_ALLS)[number];
};

const setup = ({ hosts = HOSTS, verdict = "valid", catchAll = "no" }: Case): Engine => ({
  ...QUIET_ENGINE,
  lists: createLists(),
  now: () => START,
  findMailHosts: async () => ({ ...hosts, dnsQueries: [] }),
  probe: async ({ recipient }) => ({
    recipient,
    unknownRecipients: [],
    finding: {
      verdict,
      reason: `mailbox_${verdict}`,
      rule: "r",
      confidence: 0.9,
      retry: null,
      aboutUs: false,
    },
    reply: null,
    host: "mx.example.com",
    ip: "192.0.2.1",
    encrypted: false,
    catchAll,
    transcript: [],
    randomRecipient: null,
  }),
});

const resultFor = async (email: string, of: Case = {}) =>
  toWire(await verify(setup(of), email, DEEP));

const FAILS: MailHosts = { kind: "inconclusive", why: "timeout" };

test.each([
  ["ann@example.com", "unknown", "dns_inconclusive", null],
  ["info@example.com", "role", "role_account", "dns_inconclusive"],
  ["ann@mailinator.com", "disposable", "listed_disposable", "dns_inconclusive"],
])(
  "after a DNS failure the result for %s lists domain_exists and mx_found as unknown, with the status %s",
  async (email, status, reason, subStatus) => {
    const result = await resultFor(email, { hosts: FAILS });

    expect(result).toMatchObject({ status, reason, sub_status: subStatus });
    expect(result.verification).toMatchObject({
      syntax_valid: true,
      domain_exists: false,
      mx_found: false,
      not_known: ["domain_exists", "mx_found", "mailbox_exists", "catch_all"],
    });
  },
);

test.each([
  ["a domain that DNS does not have", "ann@example.com", { kind: "domain_not_found" }, false],
  ["a text that is no address", "ann@example", HOSTS, false],
  ["a domain with a null MX", "ann@example.com", { kind: "null_mx" }, true],
  ["a domain without a mail host", "ann@example.com", { kind: "no_mail_host" }, true],
  ["a domain with a mail host", "ann@example.com", HOSTS, true],
] as const)("the result states domain_exists for %s", async (_, email, hosts, exists) => {
  const { domain_exists, not_known } = (await resultFor(email, { hosts })).verification;

  expect(domain_exists).toBe(exists);
  expect(not_known).not.toContain("domain_exists");
});

test("the result for an address literal states only its syntax, since the engine contacts no host", async () => {
  expect((await resultFor("ann@[192.0.2.1]")).verification).toEqual({
    syntax_valid: true,
    domain_exists: false,
    mx_found: false,
    smtp_check: false,
    mailbox_exists: false,
    catch_all: false,
    not_known: ["domain_exists", "mx_found", "smtp_check", "mailbox_exists", "catch_all"],
  });
});

test.each(asRows`
  accepted, with a refused random recipient | valid | no | []
  accepted as every address is | valid | yes | [mailbox_exists]
  accepted, with an unanswered random recipient | valid | undecided | [mailbox_exists catch_all]
  refused | invalid | not_tested | []
  refused for a full mailbox | risky | not_tested | []
  without a reply | unknown | not_tested | [mailbox_exists catch_all]
`)(
  "the result lists the unknown checks of an address that is %s",
  async (_, verdict, catchAll, names) => {
    const { verification } = await resultFor("ann@example.com", { verdict, catchAll });

    expect(verification.not_known).toEqual(names);
  },
);

test("domain_exists is false only for a result with the status invalid", async () => {
  const kinds = ["domain_not_found", "null_mx", "no_mail_host", "mx_unroutable"] as const;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<MailHosts>(HOSTS, FAILS, ...kinds.map((kind) => ({ kind }))),
      fc.constantFrom(
        "ann@example.com",
        "info@mailinator.com",
        "ann@gmial.com",
        "ann@",
        "a@[1.1.1.1]",
      ),
      fc.constantFrom(...VERDICTS),
      fc.constantFrom(...CATCH_ALLS),
      async (hosts, email, verdict, catchAll) => {
        const result = await resultFor(email, { hosts, verdict, catchAll });
        const isAsked = hosts.kind !== "inconclusive" && !email.includes("[");
        const { not_known, ...checks } = result.verification;
        expect(!not_known.includes("domain_exists")).toBe(isAsked || email === "ann@");
        expect(not_known.filter((name) => checks[name])).toEqual([]);
      },
    ),
  );
});

test.each([
  ["accepted as every address is", "ann@example.com", "valid", "yes", 0.43],
  ["accepted, with an unanswered random recipient", "ann@example.com", "valid", "undecided", 0.43],
  ["accepted, without a random recipient", "ann@example.com", "valid", "not_tested", 0.43],
  ["accepted, with a refused random recipient", "ann@example.com", "valid", "no", 1],
  ["refused", "ann@example.com", "invalid", "no", 0],
  ["refused, without a random recipient", "ann@example.com", "invalid", "not_tested", 0],
  ["refused at a disposable domain", "ann@mailinator.com", "invalid", "not_tested", 0],
  ["refused for a full mailbox", "ann@example.com", "risky", "not_tested", 1],
  ["without a reply", "ann@example.com", "unknown", "not_tested", 0.43],
  ["without a reply at a proven catch-all", "ann@example.com", "unknown", "yes", 0.43],
  ["a role at a catch-all", "info@example.com", "valid", "yes", 0.5],
  ["a role that was accepted alone", "info@example.com", "valid", "no", 1],
] as const)(
  "catch_all_confidence of an address that is %s: %s, %s, %s gives %d",
  async (_, email, verdict, catchAll, confidence) => {
    const { ai } = await resultFor(email, { verdict, catchAll });

    expect(ai).toMatchObject({ catch_all_confidence: confidence, typo_suggestion: null });
  },
);

test.each([
  ["ann@nowhere.example", 0],
  ["ann@[192.0.2.1]", 0.43],
  ["no address", 0],
])(
  "the result gives %s, whose server the engine did not ask, the catch_all_confidence %d",
  async (email, confidence) => {
    const { ai } = await resultFor(email, { hosts: { kind: "domain_not_found" } });

    expect(ai).toMatchObject({ catch_all_confidence: confidence });
  },
);

test.each(["gmial.com", "hotmial.com", "hotmai.com", "yaho.com", "mail.gmial.com"])(
  "the typo domain %s makes an accepted address risky, and never disposable",
  async (domain) => {
    for (const catchAll of CATCH_ALLS)
      expect(await resultFor(`ann@${domain}`, { catchAll })).toMatchObject({
        status: "risky",
        reason: "typo_domain",
        flags: { disposable: false },
      });
  },
);

test("the result for a typo domain suggests the probable address", async () => {
  const { ai } = await resultFor("ann@gmial.com", { catchAll: "yes" });

  expect(ai).toMatchObject({ typo_suggestion: "ann@gmail.com", catch_all_confidence: 0.43 });
});

test.each([
  [{ hosts: { kind: "null_mx" } }, "invalid", "null_mx"],
  [{ hosts: { kind: "domain_not_found" } }, "invalid", "domain_not_found"],
  [{ hosts: FAILS }, "unknown", "dns_inconclusive"],
  [{ verdict: "invalid" }, "invalid", "mailbox_invalid"],
  [{ verdict: "unknown" }, "risky", "typo_domain"],
] as const)("a typo domain with %j returns %s for the reason %s", async (of, status, reason) => {
  expect(await resultFor("ann@gmial.com", of)).toMatchObject({ status, reason });
});

test("an operator's own list can make a typo domain disposable, or a provider", async () => {
  const engine = setup({ catchAll: "no" });
  const changes = (list: "disposable" | "free") =>
    createLists([{ list, add: true, entry: "gmial.com" }]);

  const disposable = { ...engine, lists: changes("disposable") };
  const free = { ...engine, lists: changes("free") };
  expect(await verify(disposable, "ann@gmial.com", DEEP)).toMatchObject({ status: "disposable" });
  expect(await verify(free, "ann@gmial.com", DEEP)).toMatchObject({ status: "valid" });
});
