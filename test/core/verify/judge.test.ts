import { judge } from "@mailproof/core/verify/judge";
import { STATUSES } from "@mailproof/core/verify/result";
import { BANDS } from "@mailproof/core/verify/score";
import type { DomainSignal, Signals } from "@mailproof/core/verify/signals";
import type { Finding } from "@mailproof/mail/smtp/classify";
import fc from "fast-check";
import { expect, test } from "vitest";
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
