import { readGauges } from "@mailproof/core/background/gauges";
import type { Table } from "@mailproof/core/ports/table";
import { listProviderBlocks } from "@mailproof/core/smtp-pool/circuit-breaker/circuit-items";
import { describe, expect, test } from "vitest";
import { createFaultyTable } from "../../simulation/faults.ts";
import { createRandom } from "../../simulation/random.ts";
import {
  accept,
  askMany,
  countResults,
  GOOGLE,
  givenProviders,
  HOUR_MS,
  hostsOf,
  ICLOUD,
  OUTLOOK,
  type ServerReply,
} from "./refusing-providers.ts";

// Goal: a mail provider that refuses us gets no more sessions after a few, one that does not always gets them, and
// no verdict but `unknown` comes from a refusal of us.
// Method: servers that reply as documented, in virtual time; what is counted are sessions and results.

const BLOCKED = "554 5.7.0 Blocked - see support.proofpoint.com";
const S3150 = "550 5.7.1 Unfortunately, part of their network is on our block list (S3150).";
const SC_002 =
  "550 SC-002 (BAY0-MC1-F1) Unfortunately, the server has exhibited namespace mining behavior.";

const blockAt =
  (command: "" | "EHLO" | "MAIL" | "RCPT", reply: string): ServerReply =>
  (line) =>
    (command === "" ? line.line === "" : line.line.startsWith(command)) ? reply : accept(line);

const ownDomain = (n: number): string => `d${n}.example`;

describe("2,000 addresses at a provider that blocks us", () => {
  test.each([
    ["iCloud's greeting", ICLOUD, "", BLOCKED, "unknown server_refuses"],
    [
      "AT&T's greeting",
      hostsOf("al-ip4-mx-vip1.prodigy.net"),
      "",
      "521 198.51.100.7 is blocked",
      "unknown ip_blocked",
    ],
    ["the reply to EHLO", ICLOUD, "EHLO", BLOCKED, "unknown server_refuses"],
    ["Outlook's reply to MAIL", OUTLOOK, "MAIL", S3150, "unknown ip_blocked"],
    ["Outlook's reply to RCPT", OUTLOOK, "RCPT", SC_002, "unknown directory_harvest"],
    [
      "GoDaddy's greeting",
      hostsOf("smtp.secureserver.net"),
      "",
      "554 IB113 This IP has been blocked",
      "unknown ip_blocked",
    ],
  ] as const)(
    "a block in %s stops the sessions after at most 20",
    async (_, hosts, command, reply, expected) => {
      const { probe, sessions, asked } = givenProviders(blockAt(command, reply));

      const results = await askMany(probe, 2_000, hosts);

      expect(countResults(results)).toEqual({ [expected]: 2_000 });
      expect(sessions.length).toBeLessThanOrEqual(20);
      expect(asked.length).toBeLessThanOrEqual(20);
      expect(results.at(-1)).toMatchObject({ finding: { retry: null } });
    },
  );
});

test("occasional refusals do not open the circuit, since other replies come between", async () => {
  const { probe, sessions } = givenProviders((line) =>
    line.session % 3 !== 0 && line.line === "" ? BLOCKED : accept(line),
  );

  const results = await askMany(probe, 300, hostsOf("mx.icloud-like.mail.icloud.com"));

  expect(sessions.length).toBeGreaterThan(30);
  expect(countResults(results)).toEqual({
    "unknown server_refuses": 200,
    "valid accepted": 100,
  });
});

test("a session that three hosts of a provider refuse counts as one refusal", async () => {
  const { probe, circuits, sessions } = givenProviders(blockAt("", BLOCKED));

  await askMany(probe, 1, [...ICLOUD, ...hostsOf("mx03.mail.icloud.com")]);

  expect(sessions.length).toBeGreaterThan(1);
  expect(circuits()).toMatchObject([{ refusals: 1, openings: 0 }]);
});

test.each([
  ["a server that hangs up", ""],
  ["a busy server", "421 4.3.2 All server ports are busy"],
])("%s at the greeting causes only the short backoff", async (_, greeting) => {
  const { probe, logged, world, table } = givenProviders(blockAt("", greeting));

  await askMany(probe, 100, ICLOUD);

  expect(await listProviderBlocks({ table, now: world.now })).toEqual([]);
  expect(logged).toEqual([]);
});

describe("a provider that blocks one of two exits", () => {
  const EXITS = ["192.0.2.8:1080", "192.0.2.9:1080"];
  const blockExits =
    (
      blocked: readonly string[],
      command: "" | "MAIL" | "RCPT" = "",
      reply = BLOCKED,
    ): ServerReply =>
    (line) =>
      blocked.includes(line.exit) ? blockAt(command, reply)(line) : accept(line);

  test("the second exit takes over when the provider blocks the first, and every address gets its verdict", async () => {
    const { probe, sessions } = givenProviders(blockExits(EXITS.slice(0, 1)), { exits: EXITS });

    const results = await askMany(probe, 2_000, ICLOUD);

    expect(countResults(results)).toEqual({ "valid accepted": 2_000 });
    expect(sessions.filter(({ exit }) => exit === EXITS[0]).length).toBeLessThanOrEqual(20);
  });

  test("the second exit takes over when the provider refuses recipients, and nearly all get their verdict", async () => {
    const { probe, sessions } = givenProviders(blockExits(EXITS.slice(0, 1), "RCPT", SC_002), {
      exits: EXITS,
    });

    const results = await askMany(probe, 2_000, OUTLOOK);

    expect(countResults(results)["valid accepted"]).toBeGreaterThanOrEqual(1_990);
    expect(sessions.filter(({ exit }) => exit === EXITS[0]).length).toBeLessThanOrEqual(20);
  });

  test("each of two blocked exits tries a few sessions, and no address more than once", async () => {
    const { probe, sessions } = givenProviders(blockExits(EXITS), { exits: EXITS });

    const results = await askMany(probe, 2_000, ICLOUD);

    expect(countResults(results)).toEqual({ "unknown server_refuses": 2_000 });
    for (const exit of EXITS)
      expect(sessions.filter((one) => one.exit === exit).length).toBeLessThanOrEqual(20);
  });

  test("an address leaves at once by the second exit when the provider blocks the first", async () => {
    const blockFirst: ServerReply = (line) =>
      line.session === 1 ? blockAt("", BLOCKED)(line) : accept(line);
    const { probe, sessions } = givenProviders(blockFirst, { exits: EXITS });

    const results = await askMany(probe, 1, hostsOf("mx.example.com"));

    expect(countResults(results)).toEqual({ "valid accepted": 1 });
    expect(sessions.map(({ exit }) => exit).toSorted()).toEqual(EXITS);
  });

  test("one session tries the blocked exit again after the pause, while the other exit works on", async () => {
    const blocked = EXITS.slice(0, 1);
    const { probe, sessions, world } = givenProviders((line) => blockExits(blocked)(line), {
      exits: EXITS,
    });
    await askMany(probe, 100, ICLOUD);
    await world.sleep(HOUR_MS);
    blocked.length = 0;
    const before = sessions.length;

    const results = await askMany(probe, 100, ICLOUD, { from: 100 });

    expect(countResults(results)).toEqual({ "valid accepted": 100 });
    expect(sessions.slice(before).some(({ exit }) => exit === EXITS[0])).toBe(true);
  });
});

describe("one domain among many at a provider", () => {
  const refuseDomains =
    (domains: readonly string[], reply: string): ServerReply =>
    (line) =>
      line.line.startsWith("RCPT") && domains.some((domain) => line.line.includes(`@${domain}>`))
        ? reply
        : accept(line);
  const at = (count: number) => Array.from({ length: count }, (_, n) => ownDomain(n * 7 + 3));

  test("a domain that refuses us leaves the results of the 199 others right", async () => {
    const { probe, table, world } = givenProviders(refuseDomains(at(1), S3150));

    const results = await askMany(probe, 2_000, GOOGLE, { domain: (n) => ownDomain(n % 200) });

    expect(countResults(results)).toEqual({ "valid accepted": 1_990, "unknown ip_blocked": 10 });
    expect(await listProviderBlocks({ table, now: world.now })).toEqual([]);
  });

  test("a domain that refuses us three times in a row stays closed while its provider's other domains accept", async () => {
    const { probe, asked } = givenProviders(refuseDomains(at(1), S3150));

    const results = await askMany(probe, 20_000, GOOGLE, { domain: (n) => ownDomain(n % 200) });

    expect(countResults(results)).toEqual({ "valid accepted": 19_900, "unknown ip_blocked": 100 });
    // Sessions that ran side by side had some of them on their way.
    expect(asked.filter((line) => line.includes(`@${at(1)[0]}>`)).length).toBeLessThanOrEqual(50);
  });

  test.each([
    ["IP not in whitelist for RCPT domain, closing connection", "recipient_restricted"],
    ["TLS required for RCPT domain, closing connection", "auth_or_tls_required"],
  ])(
    "10 of 200 domains at Google that answer 421 %s leave the results of 190 right",
    async (words, reason) => {
      const { probe, sessions, world } = givenProviders(
        refuseDomains(at(10), `421 4.7.0 ${words}`),
      );
      const startedAt = world.now().getTime();

      const results = await askMany(probe, 200, GOOGLE, { domain: ownDomain });

      expect(countResults(results)).toEqual({ "valid accepted": 190, [`unknown ${reason}`]: 10 });
      expect(sessions.length).toBeLessThanOrEqual(30);
      expect(world.now().getTime() - startedAt, "no backoff").toBeLessThan(30_000);
    },
  );

  test("the engine asks a domain that Proofpoint still verifies once, and again after a while", async () => {
    const { probe, asked, world } = givenProviders(
      refuseDomains(
        [ownDomain(0)],
        "421 4.1.1 Recipient address rejected: Address verification in progress",
      ),
    );
    const hosts = hostsOf("mx1-us1.ppe-hosted.com");
    const domain = (n: number) => ownDomain(n % 2);

    const results = await askMany(probe, 100, hosts, { domain });
    const first = asked.filter((line) => line.includes(ownDomain(0))).length;
    await world.sleep(6 * 60_000);
    await askMany(probe, 1, hosts, { domain });

    expect(countResults(results)).toEqual({
      "valid accepted": 50,
      "unknown mailbox_not_found_transient": 50,
    });
    expect(first).toBeLessThanOrEqual(5);
    expect(asked.filter((line) => line.includes(ownDomain(0))).length).toBe(first + 1);
    expect(results.find(({ reply }) => reply?.code === 421)?.finding.retry).toBe("later");
  });

  test("the engine asks a domain that refuses one account's probes for another account", async () => {
    const { probe, asked } = givenProviders(refuseDomains([ownDomain(0)], S3150));
    const domain = () => ownDomain(0);
    await askMany(probe, 50, GOOGLE, { domain });
    const before = asked.length;

    await askMany(probe, 1, GOOGLE, { domain, account: "rival" });

    expect(asked.length).toBe(before + 1);
  });
});

test("refusals of three domains in a row count as the provider's", async () => {
  const { probe, sessions } = givenProviders(blockAt("RCPT", S3150));

  const results = await askMany(probe, 2_000, GOOGLE, { domain: ownDomain });

  expect(countResults(results)).toEqual({ "unknown ip_blocked": 2_000 });
  expect(sessions.length).toBeLessThanOrEqual(20);
});

describe("a circuit after its pause", () => {
  /** A server with ten connections: only the trial keeps its sessions from beginning at once. */
  const SERVER = hostsOf("mx.example.com");
  const setup = async (blockedUntilHour: number, processes = 1, hosts = ICLOUD) => {
    const startedAt = { ms: 0 };
    const ctx = givenProviders(
      (line) => {
        const hours = (ctx.world.now().getTime() - startedAt.ms) / HOUR_MS;
        return hours < blockedUntilHour ? blockAt("", BLOCKED)(line) : accept(line);
      },
      { processes },
    );
    startedAt.ms = ctx.world.now().getTime();
    await askMany(ctx.probe, 100, hosts);
    return { ...ctx, opened: ctx.sessions.length };
  };

  test("no session begins before the circuit's pause ends", async () => {
    const { probe, sessions, opened, world } = await setup(1);
    await world.sleep(HOUR_MS - 60_000);

    expect(countResults(await askMany(probe, 100, ICLOUD))).toEqual({
      "unknown server_refuses": 100,
    });
    expect(sessions).toHaveLength(opened);
  });

  test("one trial session asks while all others wait, and a good reply closes the circuit", async () => {
    const { probe, world, sessions, opened, peak, resetPeak, circuits } = await setup(1, 1, SERVER);
    await world.sleep(HOUR_MS);
    resetPeak();
    let peakOfTrial = 0;
    void world.sleep(50).then(() => (peakOfTrial = peak()));

    const results = await askMany(probe, 500, SERVER, { from: 100 });

    expect(countResults(results)).toEqual({ "valid accepted": 500 });
    expect(peakOfTrial).toBe(1);
    expect(peak(), "then all go on").toBeGreaterThan(1);
    expect(sessions.length).toBeGreaterThan(opened + 1);
    expect(circuits()).toEqual([]);
  });

  test("each refusal doubles the circuit's next pause, up to a day", async () => {
    const { probe, world, table, opened, sessions } = await setup(1_000);
    const hours: number[] = [];
    for (let n = 0; n < 7; n++) {
      const [block] = await listProviderBlocks({ table, now: world.now });
      const remainingMs = (block?.until.getTime() ?? 0) - world.now().getTime();
      hours.push(Math.ceil(remainingMs / HOUR_MS));
      await world.sleep(remainingMs);
      await askMany(probe, 100, ICLOUD);
    }

    expect(hours).toEqual([1, 2, 4, 8, 16, 24, 24]);
    // Each trial is one session, which tries both hosts.
    expect(sessions.length - opened).toBeLessThanOrEqual(14);
  });

  test("the trial session of one process decides for another process", async () => {
    const { probes, world, peak, resetPeak } = await setup(1, 2, SERVER);
    await world.sleep(HOUR_MS);
    resetPeak();
    let peakOfTrial = 0;
    void world.sleep(60).then(() => (peakOfTrial = peak()));

    const results = await Promise.all(
      probes.map((probe, process) => askMany(probe, 100, SERVER, { from: 1_000 * process })),
    );

    expect(countResults(results.flat())).toEqual({ "valid accepted": 200 });
    expect(peakOfTrial).toBe(1);
  });
});

test("concurrent sessions that meet the same block open the circuit once", async () => {
  const { probe, sessions, world, circuits, peak } = givenProviders(blockAt("", S3150));
  await askMany(probe, 500, hostsOf("mx.example.com"));

  expect(peak()).toBe(10);
  expect(sessions.length).toBeLessThanOrEqual(20);
  expect(circuits()).toMatchObject([{ openings: 1 }]);
  expect(circuits()[0]?.["open_until"]).toBeLessThanOrEqual(world.now().getTime() + HOUR_MS);
});

describe("processes with one table", () => {
  test("processes with one table share an open circuit, even with a process that starts later", async () => {
    const { probes, sessions, startProcess } = givenProviders(blockAt("", BLOCKED), {
      processes: 2,
    });
    const [first, second] = probes;
    if (!first || !second) throw new Error("no processes");
    await askMany(first, 500, ICLOUD);
    const opened = sessions.length;

    const results = [
      ...(await askMany(second, 500, ICLOUD)),
      ...(await askMany(startProcess(2), 500, ICLOUD)),
    ];

    expect(countResults(results)).toEqual({ "unknown server_refuses": 1_000 });
    expect(sessions).toHaveLength(opened);
  });

  test("processes with one table count the refusals of all in one sequence", async () => {
    const { startProcess, sessions } = givenProviders(blockAt("", BLOCKED), { processes: 2 });
    for (let n = 0; n < 10; n++) await askMany(startProcess(n), 1, ICLOUD);

    expect(sessions.length).toBeLessThanOrEqual(3 * ICLOUD.length);
  });

  test("processes with one table share the provider's words, and no recipient of another account", async () => {
    const { probes } = givenProviders(blockAt("MAIL", `${S3150} for anna@secret.example`), {
      processes: 2,
    });
    const [first, second] = probes;
    if (!first || !second) throw new Error("no processes");
    await askMany(first, 50, OUTLOOK);

    const results = await askMany(second, 1, OUTLOOK, { account: "rival" });

    expect(results[0]?.reply?.text).toMatch(/block list/);
    expect(JSON.stringify(results)).not.toContain("anna@secret.example");
  });
});

const refuse = () => Promise.reject(new Error("the table is away"));
const never = () => new Promise<never>(() => {});
const lose = async () => ({ outcome: "ambiguous" }) as const;
const away: Table = { get: refuse, query: refuse, write: refuse, transact: refuse };

describe.each<[string, (table: Table) => Table]>([
  ["unreachable", () => away],
  ["silent", () => ({ get: never, query: never, write: never, transact: never })],
  ["unsure of its writes", (table) => ({ ...table, write: lose })],
  [
    "full of invalid fields",
    (table) => ({ ...table, get: async (key) => ({ ...key, openings: "many" }) }),
  ],
])("a table that is %s", (_, tableOf) => {
  test("a faulty table changes no verdict at a provider that accepts us", async () => {
    const { probe } = givenProviders(accept, { tableOf });

    expect(countResults(await askMany(probe, 200, ICLOUD))).toEqual({ "valid accepted": 200 });
  });

  test("a faulty table lets a process count refusals alone at a provider that blocks us", async () => {
    const { probe, sessions, world } = givenProviders(blockAt("", BLOCKED), { tableOf });

    const results = await askMany(probe, 2_000, ICLOUD);
    const opened = sessions.length;
    await world.sleep(60_000);
    const later = await askMany(probe, 100, ICLOUD);

    expect(countResults([...results, ...later])).toEqual({ "unknown server_refuses": 2_100 });
    expect(opened).toBeLessThanOrEqual(20);
    expect(sessions, "it remembers").toHaveLength(opened);
  });

  test("a faulty table does not make a process forget refusals that are minutes apart", async () => {
    const { probe, sessions, world } = givenProviders(blockAt("", BLOCKED), { tableOf });
    for (let n = 0; n < 10; n++) {
      await askMany(probe, 1, hostsOf("mx.example.com"));
      await world.sleep(60_000);
    }

    expect(sessions).toHaveLength(3);
  });

  test("a faulty table does not stop the trial session after the pause", async () => {
    let isBlocked = true;
    const { probe, world } = givenProviders(
      (line) => (isBlocked ? blockAt("", BLOCKED)(line) : accept(line)),
      { tableOf },
    );
    await askMany(probe, 100, ICLOUD);
    await world.sleep(HOUR_MS);
    isBlocked = false;

    expect(countResults(await askMany(probe, 100, ICLOUD))).toEqual({ "valid accepted": 100 });
  });
});

test.each([1, 2, 3, 4, 5, 6])(
  "a table that loses replies and calls costs a few sessions and no verdict (seed %i)",
  async (seed) => {
    const tableOf = (table: Table) => createFaultyTable(table, createRandom(seed), 0.2);
    const blocked = givenProviders(blockAt("", BLOCKED), { tableOf, processes: 3 });
    const accepted = givenProviders(accept, { tableOf, processes: 3 });

    const refused = await Promise.all(blocked.probes.map((probe) => askMany(probe, 500, ICLOUD)));
    const valid = await Promise.all(accepted.probes.map((probe) => askMany(probe, 100, ICLOUD)));

    expect(countResults(refused.flat())).toEqual({ "unknown server_refuses": 1_500 });
    expect(blocked.sessions.length).toBeLessThanOrEqual(60);
    expect(countResults(valid.flat())).toEqual({ "valid accepted": 300 });
  },
);

describe("the operator's view of a block", () => {
  test("the operator gets one line of the log, and a gauge during the block", async () => {
    const { probe, logged, table, world } = givenProviders(blockAt("", `${BLOCKED} ann@x.example`));

    await askMany(probe, 500, ICLOUD);

    const block = { provider: "icloud", exit: "direct" };
    expect(logged).toEqual([
      { event: "mail_provider_blocked", fields: expect.objectContaining({ ...block, pauses: 1 }) },
    ]);
    expect(JSON.stringify(logged)).not.toContain("ann@x.example");
    expect(await listProviderBlocks({ table, now: world.now })).toMatchObject([
      { ...block, reply: expect.stringMatching(/^554 Blocked/) },
    ]);
    expect(await readGauges(world)).toMatchObject({ mailProvidersBlocked: 1 });
    await world.sleep(HOUR_MS);
    expect(await readGauges(world)).toMatchObject({ mailProvidersBlocked: 0 });
  });

  test("the operator gets no line about a small server's own refusal", async () => {
    const { probe, logged, table, world } = givenProviders(blockAt("", S3150));

    await askMany(probe, 500, hostsOf("mx.example.com"));

    expect(logged).toEqual([]);
    expect(await listProviderBlocks({ table, now: world.now })).toEqual([]);
  });
});
