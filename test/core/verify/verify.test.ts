import type { ProbeRequest, ProbeResult } from "@mailproof/core/smtp-pool/probe";
import { createUnansweredResult } from "@mailproof/core/smtp-pool/results";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine, type Engine } from "@mailproof/core/verify/engine";
import { createMailHostLookup } from "@mailproof/core/verify/mail-host-lookup";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import { verify } from "@mailproof/core/verify/verify";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { createLists, createReplaceableLists } from "@mailproof/mail/lists/lists";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";
import type { Finding } from "@mailproof/mail/smtp/classify";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenWorld, START } from "../../app/given.ts";
import { createZoneDns } from "../../app/zone.ts";
import { asRows } from "../../runner/as-rows.ts";
import { createRandom } from "../../simulation/random.ts";

const OPTIONS = { deepVerify: true, includeAi: true, includeEvidence: true };
const ACCEPTED: Finding = {
  verdict: "valid",
  reason: "accepted",
  rule: "2xx",
  confidence: 0.95,
  retry: null,
  aboutUs: false,
};

const givenEngine = (mxHost: string, more: Partial<ProbeResult> = {}) => {
  const asked: ProbeRequest[] = [];
  const engine: Engine = {
    ...QUIET_ENGINE,
    lists: createLists(),
    now: () => START,
    findMailHosts: async () => ({
      kind: "hosts",
      implicit: false,
      hosts: [{ host: mxHost, priority: 10, ips: ["192.0.2.1"] }],
      dnsQueries: [],
    }),
    probe: async (question) => {
      asked.push(question);
      return {
        recipient: question.recipient,
        unknownRecipients: [],
        finding: ACCEPTED,
        reply: { code: 250, enhanced: null, text: "ok" },
        host: mxHost,
        ip: "192.0.2.1",
        encrypted: true,
        catchAll: "not_tested",
        transcript: [],
        randomRecipient: null,
        ...more,
      };
    },
  };
  return { engine, asked };
};

test.each<[string, string, boolean, string]>([
  ["ann@gmail.com", "gmail-smtp-in.l.google.com", false, "valid"],
  ["ann@gmail.co", "mx.squatter.example", true, "risky"],
  ["ann@gmail.com.br", "gmail-smtp-in.l.google.com", true, "risky"],
  ["ann@gmail.com", "mx.forged.example", true, "risky"],
  ["ann@me.xyz", "mx.me.xyz", true, "risky"],
  ["ann@hotmail.con", "mx.squatter.example", true, "risky"],
])(
  "the verification of %s at %s requires a random recipient: %s",
  async (email, mxHost, randomRecipient, status) => {
    const { engine, asked } = givenEngine(mxHost);

    expect(await verify(engine, email, OPTIONS)).toMatchObject({ status });
    expect(asked[0]?.probeCatchAll).toBe(randomRecipient);
  },
);

test.each([
  ["route1.mx.cloudflare.net", true],
  ["mx2.improvmx.com", true],
  ["eforward3.registrar-servers.com", true],
  ["fwd2.porkbun.com", true],
  ["aspmx.l.google.com", false],
  ["mx.porkbun.com", false],
])(
  "a result for mail through %s flags forwarding (%s), with unchanged status and score",
  async (host, isForwarded) => {
    const email = "ann@example.com";
    const found = await verify(givenEngine(host, { catchAll: "no" }).engine, email, OPTIONS);
    const own = await verify(givenEngine("mx.x.com", { catchAll: "no" }).engine, email, OPTIONS);

    expect(found.flags).toEqual({ ...own.flags, forwardingMx: isForwarded });
    expect([found.status, found.score]).toEqual([own.status, own.score]);
  },
);

test.each([
  ["no", true],
  ["yes", false],
  ["undecided", false],
  ["not_tested", false],
] as const)(
  "an acceptance at a domain with catch-all %s proves a mailbox: %s",
  async (catchAll, mailboxExists) => {
    const { engine } = givenEngine("mx.example.com", { catchAll });

    const { verification } = await verify(engine, "ann@example.com", OPTIONS);

    expect(verification.mailboxExists).toBe(mailboxExists);
  },
);

test.each([
  ["ann@outlook.fr", "outlook-fr.olc.protection.outlook.com", "microsoft_consumer"],
  ["ann@example.com", "aspmx.l.google.com", "google"],
  ["ann@example.com", "mx.example.com", undefined],
])(
  "the evidence about %s at %s contains the receiver's entry: %s",
  async (email, mxHost, entry) => {
    const { engine } = givenEngine(mxHost);
    const { evidence } = await verify(engine, email, OPTIONS);

    expect(evidence?.receiver).toBe(entry);
  },
);

test("the evidence shows the recipient and our random recipient, and omits every other recipient", async () => {
  const randomRecipient = "qk3v9x2m7c1z8b4n6l0p@example.com";
  const lines = [
    "MAIL FROM:<probe@example.org>",
    "RCPT TO:<ann@example.com>",
    `RCPT TO:<${randomRecipient}>`,
    "RCPT TO:<christophermuller123@example.com>",
  ];
  const transcript = lines.flatMap((text) => [
    { ms: 0, who: "client" as const, text },
    { ms: 1, who: "server" as const, text: `250 ${text}` },
  ]);
  const { engine } = givenEngine("mx.example.com", {
    transcript,
    randomRecipient: randomRecipient,
    catchAll: "no",
  });

  const { evidence } = await verify(engine, "ann@example.com", OPTIONS);

  expect(evidence?.transcript.map(({ text }) => text)).toEqual(
    lines.slice(0, 3).flatMap((text) => [text, `250 ${text}`]),
  );
});

test("a result without a mail server's reply states only what DNS and the lists show", async () => {
  const { engine, asked } = givenEngine("mx.example.com");

  const result = await verify(engine, "ann@example.com", { ...OPTIONS, deepVerify: false });

  expect(result).toMatchObject({ status: "unknown", reason: "not_probed" });
  expect(result.verification).toMatchObject({
    mxFound: true,
    smtpCheck: false,
    mailboxExists: false,
  });
  expect(asked).toEqual([]);
});

test("no SMTP command contains the address of a spam trap", async () => {
  const { engine, asked } = givenEngine("mx.example.com");

  expect(await verify(engine, "spamtrap@example.com", OPTIONS)).toMatchObject({
    status: "spam_trap",
  });
  expect(asked).toEqual([]);
});

test("an address literal counts as an address, and the engine never connects to it", async () => {
  const { engine, asked } = givenEngine("mx.example.com");

  const result = await verify(engine, "ann@[192.0.2.1]", OPTIONS);

  expect(result).toMatchObject({ status: "unknown", verification: { syntaxValid: true } });
  expect(asked).toEqual([]);
});

test("the result suggests a correction even for a text that is no address", async () => {
  const { engine } = givenEngine("mx.example.com");

  const { ai } = await verify(engine, "ann@gmail,com", OPTIONS);

  expect(ai?.typoSuggestion).toBe("ann@gmail.com");
});

test.each([
  ["refused", "dns_inconclusive", null],
  ["servfail", "dns_inconclusive", "later"],
  ["timeout", "dns_inconclusive", "later"],
  ["too_large", "dns_answer_too_large", null],
] as const)(
  "a domain whose DNS ends with %s returns unknown with the reason %s and the retry %s",
  async (kind, reason, retry) => {
    const { engine } = givenEngine("mx.example.com");
    const failing: Engine = {
      ...engine,
      findMailHosts: async () => ({
        kind: "inconclusive",
        why: kind,
        dnsQueries: [{ type: "MX", name: "example.com", kind, records: [], count: 0 }],
      }),
    };

    const verified = await verify(failing, "ann@example.com", OPTIONS);

    expect(verified).toMatchObject({ status: "unknown", reason, retry });
  },
);

test("the engine does not retry a host that our own network's filter hides", async () => {
  const dns = createZoneDns({
    "example.com": { MX: ["10 mx.example.com"] },
    "mx.example.com": { A: ["0.0.0.0"] },
  });
  const { engine } = givenEngine("mx.example.com");
  const findMailHosts = createMailHostLookup({ ...givenWorld().world, dns, allowed: [] });

  const verified = await verify({ ...engine, findMailHosts }, "ann@example.com", OPTIONS);

  expect(verified).toMatchObject({ status: "unknown", reason: "dns_inconclusive", retry: null });
});

test("a name that Gmail never gave is invalid without a request, and the evidence links to Gmail's rule", async () => {
  const { engine, asked } = givenEngine("gmail-smtp-in.l.google.com");

  const result = await verify(engine, "john_doe@gmail.com", OPTIONS);

  expect(asked).toEqual([]);
  expect(result).toMatchObject({
    status: "invalid",
    reason: "not_a_gmail_name",
    subStatus: null,
    verification: { syntaxValid: true, domainExists: true, mxFound: true, mailboxExists: false },
    evidence: { nameRule: { source: expect.stringContaining("support.google.com") } },
  });
});

test("a domain whose subscription has ended contains no mailboxes, but the verdict is risky", async () => {
  const { engine } = givenEngine("example-com.mail.protection.outlook.com", {
    finding: { ...ACCEPTED, verdict: "risky", reason: "domain_without_mailboxes" },
  });

  expect(await verify(engine, "ann@example.com", OPTIONS)).toMatchObject({
    status: "risky",
    reason: "domain_without_mailboxes",
    verification: { mailboxExists: false },
  });
});

const LONG_NAME = `reply+${"0".repeat(78)}`;

test.each(asRows`
  accepted | ${ACCEPTED} | risky | long_local_part
  refused | ${{ ...ACCEPTED, verdict: "invalid", reason: "mailbox_not_found" }} | invalid | mailbox_not_found
  deferred | ${{ ...ACCEPTED, verdict: "unknown", reason: "greylisted" }} | unknown | greylisted
`)(
  "the engine asks about a name of 84 octets, and the server decides: %s",
  async (_, finding, status, reason) => {
    const { engine, asked } = givenEngine("mx.example.com", { finding, catchAll: "no" });

    const result = await verify(engine, `${LONG_NAME}@example.com`, OPTIONS);

    expect(asked).toHaveLength(1);
    expect(result).toMatchObject({ status, reason, verification: { syntaxValid: true } });
  },
);

test("a long name without a reply is risky at a server known to accept such names, and elsewhere unknown", async () => {
  const { engine } = givenEngine("mx.example.com");
  const shallow = { ...OPTIONS, deepVerify: false };

  const result = await verify(engine, `${LONG_NAME}@reply.github.com`, shallow);
  const other = await verify(engine, `${LONG_NAME}@example.com`, shallow);

  expect([result.status, result.reason]).toEqual(["risky", "long_local_part"]);
  expect([other.status, other.reason]).toEqual(["unknown", "not_probed"]);
});

test.each([
  ["ann@burnermail.io", "valid"],
  ["info@burnermail.io", "role"],
  ["spamtrap@burnermail.io", "spam_trap"],
])(
  "the result for %s contains the hint of the broad lists with its source, also with the status %s",
  async (email, status) => {
    const { engine } = givenEngine("mx.example.com", { catchAll: "no" });
    const withBroad = { ...engine, lists: createLists([], WHOLE_EDITION) };

    const result = await verify(withBroad, email, OPTIONS);

    expect(result).toMatchObject({ status, flags: { disposable: false, disposableHint: true } });
    expect(result.evidence?.disposableHint).toEqual({
      source: "disposable-email-domains and mailchecker",
      version: expect.stringMatching(/^\d+\.\d+\.\d+ and \d+\.\d+\.\d+$/) as string,
    });
  },
);

test("a verification uses the lists of its start, and records them as evidence, when new lists arrive meanwhile", async () => {
  const { lists, replace } = createReplaceableLists(createLists([], WHOLE_EDITION));
  const { engine } = givenEngine("mx.example.com", { catchAll: "no" });
  const findMailHosts: Engine["findMailHosts"] = async (...question) => {
    replace(createLists([], { ...WHOLE_EDITION, version: "2027.1.1" }));
    return engine.findMailHosts(...question);
  };
  const replaced = { ...engine, lists, findMailHosts };

  const [first, second] = [
    await verify(replaced, "ann@example.com", OPTIONS),
    await verify(replaced, "ann@example.com", OPTIONS),
  ];

  expect([first, second].map(({ evidence }) => evidence?.listsEdition)).toEqual([
    WHOLE_EDITION.version,
    "2027.1.1",
  ]);
});

test.each(["ann@example.com", "ann@mailinator.com"])(
  "the result for %s contains no hint, and its evidence no broad list",
  async (email) => {
    const { engine } = givenEngine("mx.example.com");
    const withBroad = { ...engine, lists: createLists([], WHOLE_EDITION) };

    const { flags, evidence } = await verify(withBroad, email, OPTIONS);

    expect(flags.disposableHint).toBe(false);
    expect(evidence).not.toHaveProperty("disposableHint");
  },
);

test("the result suggests a correction for an impossible top-level domain of a company's address", async () => {
  const { engine } = givenEngine("mx.example.com");
  const without = {
    ...engine,
    findMailHosts: async () => ({ kind: "domain_not_found" as const, dnsQueries: [] }),
  };

  const { ai } = await verify(without, "ann@randomsmallcompany.cmo", OPTIONS);

  expect(ai?.typoSuggestion).toBe("ann@randomsmallcompany.com");
});

const MX = { host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] };
/** An engine whose look-ups take a random time; it counts how many are under way. */
const givenCountingEngine = (seed = 1) => {
  const chance = createRandom(seed);
  let underWay = 0;
  let peak = 0;
  const engine: Engine = {
    ...QUIET_ENGINE,
    lists: createLists(),
    now: () => START,
    findMailHosts: async () => {
      peak = Math.max(peak, ++underWay);
      for (let turns = chance() * 20; turns > 0; turns--) await Promise.resolve();
      underWay--;
      return { kind: "domain_not_found", dnsQueries: [] };
    },
    probe: async () => {
      throw new Error("nothing is asked of a domain that does not exist");
    },
  };
  const world = { engine, sleep: async () => {} };
  return { engine, world, peak: () => peak };
};

test("verifyMany returns results in the order of the input although they end in another", async () => {
  const { world } = givenCountingEngine(7);
  const asked = Array.from({ length: 300 }, (_row, n) => `person${n}@d${n % 20}.example`);

  const results = await Array.fromAsync(verifyMany(world, asked, OPTIONS));

  expect(results.map(({ email }) => email)).toEqual(asked);
});

test("verifyMany reads an endless list only as far as the consumer takes results", async () => {
  const { world, peak } = givenCountingEngine();
  let read = 0;
  function* endless() {
    for (;;) yield `person${read++}@example.com`;
  }

  const results = verifyMany(world, endless(), OPTIONS);
  for (let nth = 0; nth < 10; nth++) await results.next();
  await results.return(undefined);

  expect(read).toBeLessThanOrEqual(5_010);
  expect(peak()).toBeLessThanOrEqual(5_000);
});

test("verifyMany returns a verdict for any string, and never throws", async () => {
  const { world } = givenCountingEngine();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 5 }),
      async (texts) => {
        const results = await Array.fromAsync(verifyMany(world, texts, OPTIONS));
        expect(results.map(({ status }) => status)).toEqual(texts.map(() => "invalid"));
      },
    ),
  );
});

test("verifyMany returns no results for an empty list", async () => {
  const { world } = givenCountingEngine();

  expect(await Array.fromAsync(verifyMany(world, [], OPTIONS))).toEqual([]);
});

test("verifyMany returns a result while the input is still open", async () => {
  const { world } = givenCountingEngine();
  async function* slow() {
    yield "person1@example.com";
    await new Promise<never>(() => {});
  }

  const first = await verifyMany(world, slow(), OPTIONS).next();

  expect(first.value).toMatchObject({ email: "person1@example.com" });
});

test("verifyMany looks up a repeated address once, and returns a result for each occurrence", async () => {
  const { world } = givenCountingEngine();
  const { promise: allProbed, resolve } = Promise.withResolvers<void>();
  let lookUps = 0;
  const hostsOf: Engine["findMailHosts"] = async (domain) => {
    lookUps++;
    await allProbed;
    return world.engine.findMailHosts(domain);
  };
  function* fifty() {
    for (let n = 0; n < 50; n++) yield "ann@example.com";
    resolve();
  }

  const results = await Array.fromAsync(
    verifyMany({ ...world, engine: { ...world.engine, findMailHosts: hostsOf } }, fifty(), OPTIONS),
  );

  expect(results).toHaveLength(50);
  expect(lookUps).toBe(1);
});

test("verifyMany throws the error of a failing input, and a stuck input blocks no caller", async () => {
  const { world } = givenCountingEngine();
  async function* failing() {
    yield "person1@example.com";
    throw new Error("the file is gone");
  }
  async function* stuck() {
    yield "person1@example.com";
    await new Promise<never>(() => {});
  }

  const failed = Array.fromAsync(verifyMany(world, failing(), OPTIONS));
  await expect(failed).rejects.toThrow("the file is gone");
  const left = verifyMany(world, stuck(), OPTIONS);
  await left.next();

  expect(await left.return(undefined)).toEqual({ done: true, value: undefined });
});

test("verifyMany verifies an address again when its provider's backoff ends", async () => {
  const { world } = givenCountingEngine();
  const comeBack = {
    at: new Date(START.getTime() + 30_000).toISOString(),
    ticket: { queue: "google all", position: 7, draw: 0 },
    reason: "rate_limited",
  };
  const asked: unknown[] = [];
  const waits: number[] = [];
  const engine: Engine = {
    ...world.engine,
    findMailHosts: async () => ({ kind: "hosts", hosts: [MX], implicit: false, dnsQueries: [] }),
    probe: async ({ recipient, ticket }) => {
      asked.push(ticket);
      const result = createUnansweredResult(recipient);
      return asked.length === 1 ? { ...result, comeBack } : result;
    },
  };
  const sleep = async (ms: number) => void waits.push(ms);

  await Array.fromAsync(verifyMany({ engine, sleep }, ["ann@example.com"], OPTIONS));

  expect(asked).toEqual([undefined, comeBack.ticket]);
  expect(waits).toEqual([30_000]);
});

const HOUR_MS = 3_600_000;

test.each([12 * 24, -2])(
  "a look-up continues when the clock jumps by %s hours meanwhile",
  async (hours) => {
    const { world, jump } = givenWorld();
    const { table, now, sleep, random } = world;
    let steadyMs = 0;
    const engine = createEngine({
      table,
      now,
      sleep,
      random,
      steadyNow: () => new Date(steadyMs++),
      lists: createLists(),
      allowed: [],
      slots: createLocalSlots({ now }),
      smtp: { helo: "x.example", from: "a@x.example", port: 25 },
      connect: async () => "connect_refused",
      dns: async (type) => {
        jump(hours * HOUR_MS);
        const records: readonly unknown[] =
          type === "MX" ? [{ priority: 1, exchange: "mx.example.org" }] : ["198.51.99.1"];
        return { kind: "ok", records } as never;
      },
    });
    const options = { deepVerify: false, includeAi: false, includeEvidence: false };

    const result = await verify(engine, "ann@example.org", options);

    expect(result.verification.mxFound).toBe(true);
  },
);
