import { toWire } from "@mailproof/api/schema/verification";
import type { Engine } from "@mailproof/core/verify/engine";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import { verify } from "@mailproof/core/verify/verify";
import type { MailHosts } from "@mailproof/mail/dns/mail-hosts";
import { createLists } from "@mailproof/mail/lists/lists";
import type { Finding } from "@mailproof/mail/smtp/classify";
import fc from "fast-check";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";

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
  "domain_exists and mx_found of %s are unknown after a DNS failure, and the status is %s for that reason",
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
] as const)("the result knows domain_exists of %s", async (_, email, hosts, exists) => {
  const { domain_exists, not_known } = (await resultFor(email, { hosts })).verification;

  expect(domain_exists).toBe(exists);
  expect(not_known).not.toContain("domain_exists");
});

test("the result for an address literal knows only its syntax, since no host is contacted", async () => {
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

test.each([
  ["accepted, with a refused random recipient", "valid", "no", []],
  ["accepted as every address is", "valid", "yes", ["mailbox_exists"]],
  [
    "accepted, with an unanswered random recipient",
    "valid",
    "undecided",
    ["mailbox_exists", "catch_all"],
  ],
  ["refused", "invalid", "not_tested", []],
  ["refused for a full mailbox", "risky", "not_tested", []],
  ["without a reply", "unknown", "not_tested", ["mailbox_exists", "catch_all"]],
] as const)(
  "the result lists the unknown checks of an address that is %s",
  async (_, verdict, catchAll, names) => {
    const { verification } = await resultFor("ann@example.com", { verdict, catchAll });

    expect(verification.not_known).toEqual(names);
  },
);

test("domain_exists is false only when the status is invalid, whatever else is known", async () => {
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
