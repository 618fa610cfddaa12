import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import type { Verification } from "@mailproof/core/verify/result";
import { verify } from "@mailproof/core/verify/verify";
import type { Dns, DnsOutcome } from "@mailproof/mail/dns/dns";
import { rejectsUnknownRecipients } from "@mailproof/mail/mail-providers";
import { RULE_FAMILIES } from "@mailproof/mail/smtp/reply-rules/rules";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { type Behaviour, createNetwork } from "../../mail/smtp/play.ts";
import { createDescribe } from "../../runner/describe-when.ts";

// A result never contradicts itself: each line is a sentence that holds for every result with evidence.

type Checks = Verification["verification"];

/** What each status says of the checks. A check that is left out may be either. */
const CHECKS_BY_STATUS: Readonly<Record<Verification["status"], Partial<Checks>>> = {
  valid: {
    syntaxValid: true,
    domainExists: true,
    mxFound: true,
    smtpCheck: true,
    mailboxExists: true,
    catchAll: false,
  },
  catch_all: {
    syntaxValid: true,
    domainExists: true,
    mxFound: true,
    smtpCheck: true,
    mailboxExists: false,
    catchAll: true,
  },
  invalid: { mailboxExists: false },
  unknown: { smtpCheck: false, mailboxExists: false },
  risky: { syntaxValid: true, domainExists: true, mxFound: true },
  role: { syntaxValid: true },
  disposable: { syntaxValid: true },
  spam_trap: { syntaxValid: true },
};

const WITHOUT_MAIL = new Set(["null_mx", "no_mail_host", "mx_unroutable"]);

type Statement = {
  readonly sentence: string;
  readonly holds: (result: Verification, firstChoices: readonly string[]) => boolean;
};

const implies = (condition: boolean, consequence: boolean): boolean => !condition || consequence;

const SENTENCES: readonly Statement[] = [
  {
    sentence: "a status implies its checks",
    holds: ({ status, verification }) =>
      Object.entries(CHECKS_BY_STATUS[status]).every(
        ([check, value]) => verification[check as keyof Checks] === value,
      ),
  },
  {
    sentence: "a domain with a mail host exists",
    holds: ({ verification: { mxFound, domainExists } }) => implies(mxFound, domainExists),
  },
  {
    sentence:
      "a mailbox was shown by a mail server, and none of a domain that accepts everybody was",
    holds: ({ verification: { mailboxExists, smtpCheck, catchAll } }) =>
      implies(mailboxExists, smtpCheck && !catchAll),
  },
  {
    sentence: "domain_not_found only where DNS has no such domain",
    holds: ({ reason, subStatus, verification, evidence }) =>
      implies(
        reason === "domain_not_found" || subStatus === "domain_not_found",
        !verification.domainExists && evidence?.mailHost === null && evidence.reply === null,
      ),
  },
  {
    sentence: "a domain that takes no mail exists and has no mail host",
    holds: ({ reason, verification: { domainExists, mxFound } }) =>
      implies(WITHOUT_MAIL.has(reason), domainExists && !mxFound),
  },
  {
    sentence: "mailbox_not_found only with a 5xx about the recipient from a first-choice host",
    holds: ({ status, reason, evidence }, firstChoices) =>
      implies(
        status === "invalid" && reason === "mailbox_not_found",
        (evidence?.reply?.code ?? 0) >= 500 && firstChoices.includes(evidence?.mailHost ?? ""),
      ),
  },
  {
    sentence: "valid only with an acceptance, and where unknown recipients are refused",
    holds: ({ status, email, evidence }) =>
      implies(
        status === "valid",
        Math.floor((evidence?.reply?.code ?? 0) / 100) === 2 &&
          (evidence?.catchAll === "no" ||
            rejectsUnknownRecipients(email.split("@")[1] ?? "", evidence?.mailHost ?? null)),
      ),
  },
  {
    sentence: "catch_all only by a first-choice host that accepted the address",
    holds: ({ status, evidence }, firstChoices) =>
      implies(
        status === "catch_all",
        Math.floor((evidence?.reply?.code ?? 0) / 100) === 2 &&
          firstChoices.includes(evidence?.mailHost ?? ""),
      ),
  },
  {
    sentence: "a domain that accepts everybody has refused no address",
    holds: ({ status, verification, evidence }) =>
      implies(
        verification.catchAll && status === "invalid",
        (evidence?.reply?.code ?? 0) < 400 || evidence?.rule === null,
      ),
  },
];

/** The sentences that do not hold. `firstChoices`: the most preferred mail hosts that answered. */
const listContradictions = (
  result: Verification,
  firstChoices: readonly string[],
): readonly string[] =>
  SENTENCES.filter(({ holds }) => !holds(result, firstChoices)).map(({ sentence }) => sentence);

// The whole engine before mail hosts whose replies are drawn, and every result held to test/core/verify/contradictions.long.test.ts.

const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;
/** A person at the same domain, verified after the first address. */
const SECOND = "bob.king";
const OPTIONS = { deepVerify: true, includeAi: true, includeEvidence: true };

/** The replies of a mail host. Null: it accepts. */
type Host = {
  readonly name: string;
  readonly priority: number;
  readonly isDown: boolean;
  readonly greeting: string | null;
  readonly recipient: string | null;
  /** To the second address at the domain. */
  readonly second: string | null;
  readonly random: string | null;
};

type Domain = "hosts" | "nxdomain" | "nullmx" | "nodata" | "servfail";

const toBehaviour = (host: Host): Behaviour => {
  if (host.isDown) return "connect_refused";
  return (line) => {
    if (line === null) return host.greeting ?? "220 mx";
    if (!line.startsWith("RCPT")) return line === "QUIT" ? "221 bye" : "250 OK";
    if (line.includes(`<${SECOND}@`)) return host.second ?? "250 OK";
    return (RANDOM_RECIPIENT.test(line) ? host.random : host.recipient) ?? "250 OK";
  };
};

const createDns = (domain: Domain, hosts: readonly Host[]): Dns => {
  const answer = (type: string, name: string): DnsOutcome<unknown> => {
    const at = hosts.findIndex((host) => host.name === name);
    if (at >= 0)
      return type === "A" ? { kind: "ok", records: [`9.9.9.${at + 1}`] } : { kind: "nodata" };
    if (domain === "nullmx")
      return type === "MX"
        ? { kind: "ok", records: [{ priority: 0, exchange: "" }] }
        : { kind: "nodata" };
    if (domain !== "hosts") return { kind: domain };
    const records = hosts.map(({ name: exchange, priority }) => ({ priority, exchange }));
    return type === "MX" ? { kind: "ok", records } : { kind: "nodata" };
  };
  return (async (type: string, name: string) => answer(type, name)) as Dns;
};

/** The most preferred hosts that can be connected to, and that do not say that they take no mail at all. */
const listFirstChoices = (hosts: readonly Host[]): readonly string[] => {
  const answering = hosts.filter(
    ({ isDown, greeting }) => !isDown && !(greeting ?? "").startsWith("521"),
  );
  const first = Math.min(...answering.map(({ priority }) => priority));
  return answering.filter(({ priority }) => priority === first).map(({ name }) => name);
};

const findFaults = async (email: string, domain: Domain, hosts: readonly Host[]) => {
  const { world } = givenWorld();
  const { connect } = createNetwork(
    Object.fromEntries(hosts.map((host, at) => [`9.9.9.${at + 1}`, toBehaviour(host)])),
  );
  const engine = createEngine({
    ...world,
    dns: createDns(domain, hosts),
    connect,
    lists: world.engine.lists,
    allowed: [],
    smtp: { helo: "probe.invalid", from: "probe@probe.invalid", port: 25 },
    slots: createLocalSlots(world),
  });
  const firstChoices = listFirstChoices(hosts);
  const result = await verify(engine, email, OPTIONS);
  const next = await verify(engine, `${SECOND}@${email.split("@")[1]}`, OPTIONS);
  const faults = [result, next].flatMap((one) => listContradictions(one, firstChoices));
  return { result, faults };
};

const host = (more: Partial<Host> = {}): Host => ({
  name: "mx.example.com",
  priority: 10,
  isDown: false,
  greeting: null,
  recipient: null,
  second: null,
  random: "550 5.1.1 User unknown",
  ...more,
});

/** One line, as the network of the tests parses it. */
const toLine = (reply: string): string => reply.replaceAll(/\r?\n/g, " ");

const EXAMPLES = RULE_FAMILIES.flatMap(({ rules }) =>
  Object.values(rules).map(
    ({ example, fromHost = "mx.example.com" }) => [toLine(example), fromHost] as const,
  ),
);

test.each(EXAMPLES)(
  "the reply %j from %s causes no contradiction at any command",
  async (reply, name) => {
    const hosts = [
      host({ name, recipient: reply }),
      host({ name, random: reply }),
      host({ name, recipient: reply, random: null }),
      host({ name, greeting: reply }),
    ];

    for (const one of hosts)
      expect((await findFaults("ann.lee@example.com", "hosts", [one])).faults).toEqual([]);
  },
);

for (const file of ["smtpReplies", "moreSmtpReplies"] as const)
  createDescribe(file, `the replies of ${file}`, (read) => {
    test("the recorded replies cause no contradiction", async () => {
      const lines = read().trim().split("\n");
      const contradicting: unknown[] = [];
      for (const line of lines) {
        const { reply } = JSON.parse(line) as { reply: string };
        const { result, faults } = await findFaults("ann.lee@example.com", "hosts", [
          host({ recipient: toLine(reply) }),
        ]);
        if (faults.length > 0) contradicting.push([reply, result.status, result.reason, faults]);
      }

      expect(lines.length).toBeGreaterThan(200);
      expect(contradicting).toEqual([]);
    });
  });

const REPLIES = [...EXAMPLES.map(([reply]) => reply), "!closed", "!timeout", "521 no mail here"];
const drawReply = fc.option(
  fc.oneof(fc.constantFrom(...REPLIES), fc.constant("550 5.1.1 User unknown")),
  { freq: 2 },
);
const drawHost = (name: string) =>
  fc.record({
    name: fc.constant(name),
    priority: fc.constantFrom(10, 10, 20),
    isDown: fc.boolean(),
    greeting: fc.option(fc.constantFrom(...REPLIES), { freq: 2 }),
    recipient: drawReply,
    second: drawReply,
    random: drawReply,
  });

test("3,000 drawn pairs of results contain no contradiction", async () => {
  const emails = [
    "ann.lee@example.com",
    "info@example.com",
    "ann@gmail.com",
    "ann@mailinator.com",
    "ann@yahoo.com",
    "no address",
  ];
  const hosts = fc
    .tuple(
      fc.constantFrom("mx1.example.com", "gmail-smtp-in.l.google.com", "mta5.am0.yahoodns.net"),
      fc.integer({ min: 1, max: 3 }),
    )
    .chain(([first, count]) =>
      fc.tuple(...[first, "mx2.example.com", "mx3.example.com"].slice(0, count).map(drawHost)),
    );
  const domains: readonly Domain[] = ["nxdomain", "nullmx", "nodata", "servfail"];
  const domain = fc.oneof(
    { weight: 8, arbitrary: fc.constant<Domain>("hosts") },
    { weight: 1, arbitrary: fc.constantFrom(...domains) },
  );
  const seen = new Set<string>();

  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...emails), domain, hosts, async (email, kind, drawn) => {
      const { result, faults } = await findFaults(email, kind, drawn);
      seen.add(result.status);
      expect(faults).toEqual([]);
    }),
    { numRuns: 3_000 },
  );

  expect([...seen].toSorted()).toEqual(
    ["catch_all", "disposable", "invalid", "risky", "role", "unknown", "valid"].toSorted(),
  );
});
