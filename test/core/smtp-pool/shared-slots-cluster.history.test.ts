import type { Table } from "@mailproof/core/ports/table";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import type { SlotPool } from "@mailproof/core/smtp-pool/slots/slots";
import { expect, test } from "vitest";
import { createFaultyTable } from "../../simulation/faults.ts";
import { createRandom } from "../../simulation/random.ts";
import {
  askAll,
  givenCluster,
  hostAt,
  kind,
  type ReplyFor,
  type Session,
  verdicts,
} from "./cluster.ts";

// Goal: however many processes verify at once, a mail server sees one client that keeps its limits.
// Method: several engines over one table, all that they do delayed by chance that a seed decides; a scripted server
// counts. No time passes in truth.

const ACCEPTED = ["valid accepted"];
const SEEDS = Array.from({ length: 8 }, (_, n) => n + 1);
const ICLOUD = "mx01.mail.icloud.com";

test.each(SEEDS.flatMap((seed) => [2, 5].map((count) => ({ seed, count }))))(
  "$count processes never open more than ten sessions with one server (seed $seed)",
  async ({ seed, count }) => {
    const { engines, peaks } = givenCluster(count, kind, { seed });

    const answers = await askAll(engines, 300);

    expect(verdicts(answers)).toEqual(ACCEPTED);
    expect(peaks.get("192.0.2.1")).toBe(10);
  },
);

test.each(SEEDS)(
  "all processes together open at most five sessions with a provider and one with each host (seed %i)",
  async (seed) => {
    const { engines, peaks } = givenCluster(3, kind, { seed });
    const tenants = Array.from({ length: 40 }, (_, n) => `t${n}.mail.protection.outlook.com`);

    const answers = await Promise.all(tenants.map((name) => askAll(engines, 3, [hostAt(name)])));

    expect(verdicts(answers.flat())).toEqual(ACCEPTED);
    expect(tenants.map((name) => peaks.get(name))).toEqual(tenants.map(() => 1));
    expect(peaks.get("microsoft")).toBe(5);
  },
);

test.each(SEEDS)(
  "a server that many domains fall back on gets at most ten sessions, too (seed %i)",
  async (seed) => {
    const { engines, peaks } = givenCluster(3, kind, { seed });
    const fallingBack = [
      hostAt("mx.down.example", "192.0.2.66"),
      hostAt("mx.example.com", "192.0.2.1", 20),
    ];

    const answers = await Promise.all([askAll(engines, 200, fallingBack), askAll(engines, 200)]);

    expect(verdicts(answers.flat())).toEqual(ACCEPTED);
    expect(peaks.get("192.0.2.1")).toBe(10);
  },
);

test("a 421 pauses the server that sent it, and not the server tried before", async () => {
  const { engines, table, world } = givenCluster(1, (line, session) =>
    line.startsWith("RCPT") ? "421 4.7.0 too busy" : kind(line, session),
  );

  await askAll(engines, 1, [
    hostAt("mx.down.example", "192.0.2.66"),
    hostAt("mx.example.com", "192.0.2.1", 20),
  ]);
  await world.sleep(1_000);

  const closed = table.items().filter((item) => item["backoff_until"] !== undefined);
  expect(closed.map(({ pk }) => pk)).toEqual(["PROVIDER#192.0.2.1"]);
});

test("processes that share slots take no more sessions for a thousand addresses than one process", async () => {
  const alone = givenCluster(5, kind, { slots: createLocalSlots });
  const shared = givenCluster(5, kind);

  await askAll(alone.engines, 200);
  await askAll(shared.engines, 200);

  expect(alone.peaks.get("192.0.2.1")).toBeGreaterThan(10);
  expect(shared.sessions.length).toBeLessThanOrEqual(alone.sessions.length);
});

test("a few recipients at one name of a server do not wait behind thousands at another name", async () => {
  const { engines, sessions } = givenCluster(1, kind, { slots: createLocalSlots });

  const thousands = askAll(engines, 10_000, [hostAt("mx.one.example")]);
  await askAll(engines, 25, [hostAt("mx.other.example")]);
  const opened = sessions.length;
  await thousands;

  expect(opened).toBeLessThan(sessions.length / 2);
});

test("a process that gets one slot of ten fills its sessions as if it held all", async () => {
  const { engines, sessions, world, open } = givenCluster(2, (line, session) =>
    session <= 9 && line.startsWith("RCPT") ? undefined : kind(line, session),
  );
  const [hogging, working] = engines.map((engine) => [engine]);
  void askAll(hogging ?? [], 225);
  await world.sleep(1_000);
  expect(open.get("192.0.2.1")).toBe(9);

  const answers = await askAll(working ?? [], 1_000);

  expect(verdicts(answers)).toEqual(ACCEPTED);
  expect(sessions.length - 9).toBeLessThanOrEqual(11);
});

test("a process with one recipient does not wait behind a process with thousands", async () => {
  const { engines, sessions, world } = givenCluster(2, kind);
  const [many = [], one = []] = engines.map((engine) => [engine]);
  const hosts = [hostAt(ICLOUD)];

  const all = askAll(many, 5_000, hosts);
  await world.sleep(5_000);
  expect(verdicts(await askAll(one, 1, hosts))).toEqual(ACCEPTED);
  const opened = sessions.length;
  await all;

  expect(opened).toBeLessThan(sessions.length / 2);
});

const LAG_MS = 20;
/** What was under way when the 421 was sent: a reply, a write, and a connection. */
const ON_ITS_WAY_MS = 6 * LAG_MS;

const QUIET_MS = 10_000;

type Wave = { readonly fromMs: number; toMs: number; sessions: number };

/** Sessions that began shortly after one another, with a pause between the groups. */
const wavesOf = (sessions: readonly Session[]): readonly Wave[] => {
  const waves: Wave[] = [];
  for (const { atMs } of sessions) {
    const last = waves.at(-1);
    const isNew = !last || atMs - last.toMs >= QUIET_MS;
    const wave = isNew ? { fromMs: atMs, toMs: atMs, sessions: 0 } : last;
    if (isNew) waves.push(wave);
    wave.toMs = atMs;
    wave.sessions++;
  }
  return waves;
};

/** From the beginning of each wave to that of the next, in whole seconds. */
const getBackoffs = (sessions: readonly Session[]): readonly number[] => {
  const waves = wavesOf(sessions);
  return waves
    .slice(1)
    .map(({ fromMs }, n) => Math.floor((fromMs - (waves[n]?.fromMs ?? 0)) / 1_000));
};

/** A server that replies 421 to all sessions of these waves, and as usual to the others. */
const givenBusyCluster = (busyWaves: readonly number[], seed: number) => {
  const replyFor: ReplyFor = (line, session) => {
    const wave = wavesOf(cluster.sessions.slice(0, session)).length - 1;
    return line.startsWith("RCPT") && busyWaves.includes(wave)
      ? "421 4.7.0 too busy"
      : kind(line, session);
  };
  const cluster = givenCluster(5, replyFor, { seed, lag: LAG_MS });
  return cluster;
};

test.each(SEEDS)(
  "a 421 to concurrent sessions counts once, and the next backoff lasts twice as long (seed %i)",
  async (seed) => {
    const { engines, sessions } = givenBusyCluster([0, 1], seed);

    await askAll(engines, 75);

    expect(getBackoffs(sessions)).toEqual([30, 60]);
    // Many of them had received it, or there would have been nothing to count once.
    expect(wavesOf(sessions)[0]?.sessions).toBeGreaterThan(5);
  },
);

test("a successful session resets the backoff", async () => {
  const { engines, sessions, later } = givenBusyCluster([0, 2], 1);

  await askAll(engines, 30);
  later(QUIET_MS);
  await askAll(engines, 30);

  // The quiet between two waves is counted from the beginning of the first, which lasts one or two seconds by chance.
  expect(getBackoffs(sessions)).toEqual([30, expect.toBeOneOf([10, 11, 12]), 30]);
});

test.each(SEEDS)(
  "a backoff after a 421 reaches every process within a moment (seed %i)",
  async (seed) => {
    let firstReplyAt = 0;
    const { engines, sessions, world } = givenCluster(
      5,
      (line, session) => {
        if (session !== 3 || !line.startsWith("RCPT")) return kind(line, session);
        firstReplyAt ||= world.now().getTime();
        return "421 4.7.0 too busy";
      },
      { seed, lag: LAG_MS },
    );

    await askAll(engines, 300);

    const early = sessions.filter(
      ({ atMs }) => atMs > firstReplyAt + ON_ITS_WAY_MS && atMs < firstReplyAt + 30_000,
    );
    expect(early).toEqual([]);
  },
);

test("a process that never asked the server reads in the table that a wait cannot succeed", async () => {
  const { engines, sessions, world } = givenCluster(5, (line, session) =>
    line.startsWith("RCPT") ? "421 4.7.0 too busy with anna@secret.example" : kind(line, session),
  );
  const [first, ...others] = engines;
  const began = world.now().getTime();
  const replyText = askAll(first ? [first] : [], 200);
  await world.sleep(100_000);
  const opened = sessions.length;

  const answers = await askAll(others, 10);

  expect(verdicts(answers)).toEqual(verdicts(await replyText));
  expect(answers.every(({ reply }) => reply?.code === 421)).toBe(true);
  expect(sessions).toHaveLength(opened);
  expect(world.now().getTime() - began).toBeLessThan(10 * 60_000);
  // The server's reply travels from one customer's session to another's result, and may name the first one's recipient.
  expect(JSON.stringify(answers)).not.toContain("anna@secret.example");
});

test("the slot of a crashed process becomes free before any row gives up", async () => {
  const { engines, sessions, open, world } = givenCluster(2, (line, session) =>
    session === 1 && line.startsWith("RCPT") ? undefined : kind(line, session),
  );
  const [dying, living] = engines.map((engine) => [engine]);
  const hosts = [hostAt(ICLOUD)];
  void askAll(dying ?? [], 1, hosts);
  await world.sleep(1_000);

  const answers = await askAll(living ?? [], 10, hosts);

  expect(verdicts(answers)).toEqual(ACCEPTED);
  expect(open.get(ICLOUD)).toBe(1);
  const [first, second] = sessions;
  // No session lasts longer than that.
  expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(120_000);
});

const FULL: SlotPool = { mayAcquire: () => true, acquire: async () => ({ kind: "full" }) };

test("a row that waits in vain becomes unknown with the time of its next attempt", async () => {
  const { engines, sessions, world } = givenCluster(1, kind, {
    slots: () => FULL,
    comesBack: false,
  });
  const began = world.now().getTime();

  const answers = await askAll(engines, 200);

  expect(verdicts(answers)).toEqual(["unknown timeout"]);
  expect(new Set(answers.map(({ finding }) => finding.retry))).toEqual(new Set(["later"]));
  expect(answers.every(({ comeBack }) => comeBack && new Date(comeBack.at) > world.now())).toBe(
    true,
  );
  expect(sessions).toEqual([]);
  expect(world.now().getTime() - began).toBeLessThan(5 * 60_000);
});

const refuse = () => Promise.reject(new Error("the table is away"));
const never = () => new Promise<never>(() => {});
const lose = async () => ({ outcome: "ambiguous" }) as const;

test.each<[string, (table: Table) => Table]>([
  ["unreachable", () => ({ get: refuse, query: refuse, write: refuse, transact: refuse })],
  ["silent", () => ({ get: never, query: never, write: never, transact: never })],
  ["unsure of its writes", (table) => ({ ...table, write: lose })],
  [
    "full of invalid fields",
    (table) => ({ ...table, get: async (key) => ({ ...key, failures: "many" }) }),
  ],
])("a table that is %s stops no verification and changes no verdict", async (_, tableOf) => {
  const { engines, peaks } = givenCluster(2, kind, { tableOf });

  expect(verdicts(await askAll(engines, 300))).toEqual(ACCEPTED);
  // Each process uses its own count.
  expect(peaks.get("192.0.2.1")).toBeLessThanOrEqual(20);
});

test.each(SEEDS)(
  "a table that loses replies and calls costs no address its result (seed %i)",
  async (seed) => {
    const { engines } = givenCluster(3, kind, {
      seed,
      tableOf: (table) => createFaultyTable(table, createRandom(seed), 0.2),
    });

    expect(verdicts(await askAll(engines, 100))).toEqual(ACCEPTED);
  },
);
