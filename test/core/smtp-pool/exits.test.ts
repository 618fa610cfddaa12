import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createSharedSlots } from "@mailproof/core/smtp-pool/slots/slot-pool";
import {
  createTurnHolder,
  type SlotRequest,
  toSlotKey,
} from "@mailproof/core/smtp-pool/slots/slots";
import { parseProbePolicy } from "@mailproof/mail/probe-policy";
import { describe, expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { askAll, givenCluster, hostAt, kind, type ReplyFor, verdicts } from "./cluster.ts";

// Goal: an exit is an IP address with limits of its own, so a second one carries as many sessions again.
// Method: mail servers in virtual time that count the sessions of each exit.

const DAY_MS = 86_400_000;
const EXITS = ["192.0.2.8:1080", "192.0.2.9:1080"] as const;
const [ONE] = EXITS;
const GMAIL = [hostAt("gmail-smtp-in.l.google.com")];
const GMAIL_CONNECTIONS = 5;
const OWN_HOST = [hostAt("mx.example.com")];

const peakOf = (peaks: ReadonlyMap<string, number>, provider: string, exit: string) =>
  peaks.get(`${provider} by ${exit}`) ?? 0;

type Options = Parameters<typeof givenCluster>[2];

/** Asks about many people, and returns how long it took. */
const whenAsked = async (
  processes: number,
  each: number,
  hosts = GMAIL,
  options: Options = {},
  replyFor: ReplyFor = kind,
) => {
  const cluster = givenCluster(processes, replyFor, { exits: EXITS, ...options });
  const startedAt = cluster.world.now().getTime();
  const answers = await askAll(cluster.engines, each, hosts);
  return { ...cluster, answers, ms: cluster.world.now().getTime() - startedAt };
};

describe.each([
  ["one process", 1, 2_000, { slots: createLocalSlots }],
  ["10 processes", 10, 200, {}],
] as const)("two exits of %s", (_, processes, each, options) => {
  test("two exits carry twice the sessions of one, each within its limits", async () => {
    const single = await whenAsked(processes, each, GMAIL, { ...options, exits: [ONE] });
    const both = await whenAsked(processes, each, GMAIL, options);

    expect(verdicts(both.answers)).toEqual(["valid accepted"]);
    for (const exit of EXITS) expect(peakOf(both.peaks, "google", exit)).toBe(GMAIL_CONNECTIONS);
    expect(peakOf(single.peaks, "google", ONE)).toBe(GMAIL_CONNECTIONS);
    expect(both.ms).toBeLessThan(single.ms * 0.65);
  });

  test("two exits open one session with a provider that the operator marks as careful", async () => {
    const probePolicy = parseProbePolicy("google=careful");
    if (typeof probePolicy === "string") throw new Error(probePolicy);

    const { answers, peaks } = await whenAsked(processes, 40, GMAIL, { ...options, probePolicy });

    expect(verdicts(answers)).toHaveLength(1);
    expect(peaks.get("google")).toBe(1);
  });
});

test("the pool asks few addresses of a mail host in one session, through the exit that every process chooses", async () => {
  const { sessions } = await whenAsked(8, 20, OWN_HOST);

  expect(new Set(sessions.map(({ exit }) => exit)).size).toBe(1);
});

test("the other exit replaces an unreachable proxy after a session or two", async () => {
  const slots = createLocalSlots;
  const { answers, sessions } = await whenAsked(1, 500, GMAIL, { slots, downExits: [ONE] });

  expect(verdicts(answers)).toEqual(["valid accepted"]);
  expect(sessions.filter(({ exit }) => exit === ONE).length).toBeLessThanOrEqual(10);
});

test("the result reports at once that every proxy is down", async () => {
  const { answers } = await whenAsked(1, 50, GMAIL, { downExits: EXITS });

  expect(verdicts(answers)).toEqual(["unknown proxy_failed"]);
});

test("a 421 to one exit delays no address, since the other exit takes over", async () => {
  const busy: ReplyFor = (line, session, exit) =>
    exit === ONE && line === "" ? "421 4.7.0 Too many connections" : kind(line, session, exit);

  const { answers, ms } = await whenAsked(1, 2_000, GMAIL, { slots: createLocalSlots }, busy);
  const accepted = answers.filter(({ finding }) => finding.verdict === "valid").length;

  expect(accepted, "all but those of the first sessions").toBeGreaterThanOrEqual(1_750);
  expect(ms, "no backoff of half a minute").toBeLessThan(30_000);
});

test("an address that greylisting deferred at one exit leaves by it again, even from a new process", async () => {
  const { engines } = givenCluster(40, kind, { exits: EXITS });
  const exits = await Promise.all(
    engines.map(async (probe, n) => {
      const exit = EXITS[n % 2] ?? ONE;
      const question = { recipient: `p${n}@example.com`, domain: "example.com", hosts: GMAIL };
      return (await probe({ ...question, probeCatchAll: false, exit })).exit === exit;
    }),
  );

  expect(new Set(exits)).toEqual(new Set([true]));
});

describe("a new exit", () => {
  const peakAfter = async (days: number, newExits: readonly string[] = [ONE]) => {
    const { engines, world, peaks } = givenCluster(1, kind, {
      exits: [ONE],
      newExits,
      slots: createLocalSlots,
    });
    await askAll(engines, 1, GMAIL);
    await world.sleep(days * DAY_MS);
    await askAll(engines, 1_000, GMAIL);
    return peakOf(peaks, "google", ONE);
  };

  test.each([
    [0, 1],
    [2, 1],
    [3, 2],
    [7, 3],
    [14, 5],
  ])("a new exit opens after %i days %i of Gmail's five connections", async (days, connections) => {
    expect(await peakAfter(days)).toBe(connections);
  });

  test("an exit opens all connections when the operator declares it warm", async () => {
    expect(await peakAfter(0, [])).toBe(GMAIL_CONNECTIONS);
  });

  test("a process that starts later counts the same age of a new exit", async () => {
    const { engines, world, peaks } = givenCluster(2, kind, { exits: [ONE], newExits: [ONE] });
    await askAll(engines.slice(0, 1), 1, GMAIL);
    await world.sleep(14 * DAY_MS);
    await askAll(engines.slice(1), 1_000, GMAIL);

    expect(peakOf(peaks, "google", ONE)).toBe(GMAIL_CONNECTIONS);
  });

  test("a new exit beside a warm one gets a share of the addresses as small as its sessions", async () => {
    const { engines, sessions } = givenCluster(200, kind, { exits: EXITS, newExits: [ONE] });
    await askAll(engines, 1, GMAIL);
    const byNew = sessions.filter(({ exit }) => exit === ONE).length;

    expect(byNew / sessions.length).toBeLessThan(0.35);
  });
});

describe("the wait queue of one exit", () => {
  const askFor = (account: string, mayLeave = false): SlotRequest => ({
    queue: createTurnHolder(),
    requester: { account, priority: "list" },
    batch: 1,
    sessionLength: 50,
    recipients: 1,
    mayLeave,
  });
  const setup = async () => {
    const { world } = givenWorld();
    const keys = EXITS.map((exit) => toSlotKey(GMAIL[0], exit));
    const [one = toSlotKey(undefined), other = one] = keys;
    for (const slot of one.slots) {
      const acquired = await createSharedSlots(world).acquire({ ...one, slots: [slot] });
      expect(acquired).toMatchObject({ kind: "acquired" });
    }
    return { one, other, start: () => createSharedSlots(world) };
  };

  test("the wait queue of one exit delays no session by another exit", async () => {
    const { one, other, start } = await setup();
    const request = askFor("ann");

    expect(await start().acquire(one, request)).toMatchObject({ kind: "full" });
    expect(request.queue.turn.ticket?.queue).toBe(`google by ${ONE} all`);
    expect(await start().acquire(other, askFor("bob"))).toMatchObject({ kind: "acquired" });
  });

  test("the wait queue of one exit gives no ticket to recipients with another exit to try", async () => {
    const { one, start } = await setup();
    const request = askFor("ann", true);

    expect(await start().acquire(one, request)).toMatchObject({ kind: "full" });
    expect(request.queue.turn.ticket).toBeNull();
  });

  test("a recipient with a ticket leaves by the exit of the ticket's wait queue", async () => {
    const { engines } = givenCluster(40, kind, { exits: EXITS });
    const exits = await Promise.all(
      engines.map(async (probe, n) => {
        const exit = EXITS[n % 2] ?? ONE;
        const ticket = { queue: `google by ${exit} all`, position: 1, draw: 1 };
        const question = { recipient: `p${n}@example.com`, domain: "example.com", hosts: GMAIL };
        return (await probe({ ...question, probeCatchAll: false, ticket })).exit === exit;
      }),
    );

    expect(new Set(exits)).toEqual(new Set([true]));
  });
});

test("a slot's key contains the mail provider, and with a proxy also the exit", () => {
  expect(toSlotKey(GMAIL[0]).limitKey).toBe("google");
  expect(toSlotKey(GMAIL[0], ONE).limitKey).toBe(`google by ${ONE}`);
});
