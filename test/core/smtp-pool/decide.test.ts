import { readFileSync } from "node:fs";
import type { Item } from "@mailproof/core/ports/table";
import { applyWrite, mayApply } from "@mailproof/core/ports/writes";
import type { Priority } from "@mailproof/core/smtp-pool/fairness";
import { type Decision, decide, RULES } from "@mailproof/core/smtp-pool/slots/decide";
import { endSession, type Lease } from "@mailproof/core/smtp-pool/slots/end-session";
import {
  type Change,
  getBackoff,
  LEASE_MS,
  listTakenSlots,
  parseProviderState,
  toItemKey,
  toLength,
} from "@mailproof/core/smtp-pool/slots/provider-state";
import { createTurnHolder } from "@mailproof/core/smtp-pool/slots/slots";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

// Goal: however processes and their writes interleave, who may open a session is decided as promised.
// Method: the state is an item in a variable and time is a number. Each process decides on what it last read, which may
// be old, and its change is written only where its conditions hold.

const ORDER = "all";
const SLOTS = [0, 1, 2];
const BATCH = 50;
const START_MS = 1_800_000_000_000;
const KEY = toItemKey("google");

type Process = {
  readonly token: string;
  readonly account: string;
  readonly priority: Priority;
  readonly place: ReturnType<typeof createTurnHolder>;
  left: number;
  served: number;
  lease: Lease | null;
  /** What it read last. */
  seen: Item | undefined;
};

const createProcess = (n: number, account: string, left: number, priority: Priority = "list") => ({
  token: `process${n}`,
  account,
  priority,
  place: createTurnHolder(),
  left,
  served: 0,
  lease: null as Lease | null,
  seen: undefined as Item | undefined,
});

const createProvider = () => {
  let item: Item | undefined;
  const toState = (of: Item | undefined) => parseProviderState(of, ORDER);

  /** False: a condition does not hold. */
  const write = ({ set, add, where }: Change): boolean => {
    const update = { update: KEY, set, ...(add && { add }), ...(where && { where }) } as const;
    const one = { ...update, orCreate: true } as const;
    if (!mayApply(one, item)) return false;
    item = applyWrite(one, item);
    return true;
  };

  const decideFor = (process: Process, atMs: number, chance = 0.5): Decision => {
    const { token, account, priority, place, left } = process;
    const own = process.lease ? [process.lease.slot] : [];
    const wish = {
      token,
      order: ORDER,
      queue: `google ${ORDER}`,
      slots: SLOTS,
      usable: SLOTS.filter((slot) => !own.includes(slot)),
      chance,
      place: {
        queue: { turn: place.turn },
        requester: { account, priority },
        recipients: left,
        sessionLength: BATCH,
        mayLeave: false,
      },
    };
    return decide({}, { state: toState(process.seen), wish, atMs });
  };

  /** One try of a process, as the pool makes it. Returns what was decided, or null where its write was refused. */
  const tryOnce = (process: Process, atMs: number, chance?: number): Decision | null => {
    const decision = decideFor(process, atMs, chance);
    const change = "change" in decision ? decision.change : null;
    const isWritten = change === null || write(change);
    process.seen = item;
    if (!isWritten) return null;
    if ("turn" in decision) process.place.turn = decision.turn;
    if (decision.kind === "open") begin(process, decision);
    return decision;
  };

  const begin = (process: Process, { slot, lease: text }: { slot: number; lease: string }) => {
    const requester = { account: process.account, priority: process.priority };
    const { turn } = process.place;
    process.lease = { slot, text, order: ORDER, requester: turn.ticket ? requester : null };
    if (!turn.ticket) return;
    const position = turn.ticket.position + toLength(requester, Math.min(BATCH, process.left));
    process.place.turn = { ...turn, waitsSinceMs: null, ticket: { ...turn.ticket, position } };
  };

  const end = (process: Process, atMs: number, answered = Math.min(BATCH, process.left)): void => {
    const { lease } = process;
    if (!lease) return;
    const work = { ms: 100 * answered, answered, remaining: 0 };
    const ended = { end: { refusal: null, needsCooldown: false }, work };
    const change = endSession(toState(item), lease, ended, atMs);
    if (change) expect(write(change)).toBe(true);
    process.left -= answered;
    process.served += answered;
    process.lease = null;
  };

  const read = (process: Process): void => {
    process.seen = item;
  };
  const set = (fields: Item): void => {
    item = fields;
  };
  return {
    tryOnce,
    decideFor,
    end,
    read,
    set,
    write,
    state: () => toState(item),
    item: () => item,
  };
};

const isHeld = (process: Process): boolean => process.lease !== null;

/** What happens: which process, what it does, and how much later. */
const events = fc.array(
  fc.record({
    at: fc.nat(11),
    does: fc.constantFrom("tries", "tries", "tries", "reads", "ends"),
    laterMs: fc.nat(3_000),
    chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
  }),
  { minLength: 50, maxLength: 400 },
);

const createCrowd = (): Process[] =>
  Array.from({ length: 12 }, (_, n) =>
    createProcess(n, `account${n % 4}`, 500, n % 3 === 0 ? "caller" : "list"),
  );

test("two sessions never hold one slot, even when a process writes late after an old read", () => {
  fc.assert(
    fc.property(events, (all) => {
      const provider = createProvider();
      const crowd = createCrowd();
      let atMs = START_MS;
      for (const { at, does, laterMs, chance } of all) {
        const process = crowd[at] as Process;
        // No session is longer than its lease.
        atMs += Math.min(laterMs, LEASE_MS / 500);
        if (does === "reads") provider.read(process);
        if (does === "tries" && !isHeld(process)) provider.tryOnce(process, atMs, chance);
        if (does === "ends") provider.end(process, atMs);
        const held = crowd.filter(isHeld).map(({ lease }) => lease?.slot);
        expect(new Set(held).size).toBe(held.length);
        expect(held.every((slot) => SLOTS.includes(slot ?? -1))).toBe(true);
      }
    }),
  );
});

test("a process keeps its ticket, no other of its account draws an equal one, and the line covers the ticket", () => {
  fc.assert(
    fc.property(events, (all) => {
      const provider = createProvider();
      const crowd = createCrowd();
      let atMs = START_MS;
      const drawn: string[] = [];
      for (const { at, does, laterMs, chance } of all) {
        const process = crowd[at] as Process;
        atMs += Math.min(laterMs, LEASE_MS / 500);
        const { ticket: before } = process.place.turn;
        if (does === "reads") provider.read(process);
        const decision =
          does === "tries" && !isHeld(process) && provider.tryOnce(process, atMs, chance);
        if (decision && decision.kind === "draw")
          drawn.push(`${process.account} ${process.priority} ${decision.turn.ticket?.position}`);
        expect(new Set(drawn).size).toBe(drawn.length);
        if (does === "ends") provider.end(process, atMs);
        const { ticket } = process.place.turn;
        expect(ticket?.position ?? 0).toBeGreaterThanOrEqual(before?.position ?? 0);
        const ends = [...provider.state().lines.values()].map(({ end }) => end);
        expect(Math.max(0, ...ends)).toBeGreaterThanOrEqual(ticket?.position ?? 0);
      }
    }),
  );
});

test("a process that may open a session may also open it later, while nothing else happens", () => {
  fc.assert(
    fc.property(events, fc.nat(2 * LEASE_MS), (all, waitMs) => {
      const provider = createProvider();
      const crowd = createCrowd();
      let atMs = START_MS;
      for (const { at, does, laterMs, chance } of all) {
        const process = crowd[at] as Process;
        atMs += laterMs;
        if (does === "ends") provider.end(process, atMs);
        else if (!isHeld(process)) provider.tryOnce(process, atMs, chance);
      }
      for (const process of crowd.filter((one) => !isHeld(one))) {
        provider.read(process);
        const mayOpen = (ms: number) => provider.decideFor(process, ms).kind === "open";
        expect(!mayOpen(atMs) || mayOpen(atMs + waitMs)).toBe(true);
      }
    }),
  );
});

const MS_PER_RECIPIENT = 100;
const PAUSE_MS = { next: 120, other: 700 } as const;

type Due = { readonly atMs: number; readonly does: () => void };

/** Lets all processes work until each of their recipients has a result. Returns how long it took. */
const workAll = (
  provider: ReturnType<typeof createProvider>,
  crowd: readonly Process[],
  onServed: () => void = () => {},
): number => {
  const due: Due[] = [];
  const plan = (atMs: number, does: () => void) => void due.push({ atMs, does });
  const take = (process: Process, atMs: number): void => {
    provider.read(process);
    const decision = provider.tryOnce(process, atMs);
    const again = (inMs: number) => plan(atMs + inMs, () => take(process, atMs + inMs));
    if (decision?.kind === "open") {
      const endMs = atMs + Math.min(BATCH, process.left) * MS_PER_RECIPIENT;
      plan(endMs, () => {
        provider.end(process, endMs);
        onServed();
        if (process.left > 0) take(process, endMs);
      });
    } else if (decision?.kind === "later") again(decision.atMs - atMs);
    else if (decision?.kind === "wait") again(decision.isNext ? PAUSE_MS.next : PAUSE_MS.other);
    else again(0);
  };
  for (const process of crowd) if (!isHeld(process)) plan(START_MS, () => take(process, START_MS));
  let nowMs = START_MS;
  for (let steps = 0; due.length > 0; steps++) {
    if (steps > 50_000) throw new Error("a wait never ends");
    due.sort((a, b) => b.atMs - a.atMs);
    const next = due.pop() as Due;
    nowMs = next.atMs;
    next.does();
  }
  return nowMs - START_MS;
};

test("every wait ends, even behind crashed processes", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 30 }), fc.nat(3), fc.nat(200), (count, gone, rows) => {
      const provider = createProvider();
      const crashed = Array.from({ length: gone }, (_, n) => createProcess(n, "gone", 50));
      for (const process of crashed) {
        provider.read(process);
        provider.tryOnce(process, START_MS);
      }
      const crowd = Array.from({ length: count }, (_, n) =>
        createProcess(100 + n, `account${n % 5}`, 1 + rows),
      );

      const ms = workAll(provider, crowd);

      expect(crowd.every(({ left }) => left === 0)).toBe(true);
      const workMs = (count * (1 + rows) * MS_PER_RECIPIENT) / SLOTS.length;
      expect(ms).toBeLessThan(2 * workMs + 2 * LEASE_MS + 60_000);
    }),
    { numRuns: 50 },
  );
});

test("a process waits at most fifteen seconds for a slot", () => {
  const provider = createProvider();
  for (const process of SLOTS.map((slot) => createProcess(slot, "gone", 50))) {
    provider.read(process);
    provider.tryOnce(process, START_MS);
  }
  const process = createProcess(9, "ann", 1);
  provider.read(process);
  provider.tryOnce(process, START_MS);

  const kinds = Array.from({ length: 18 }, (_, second) => {
    provider.read(process);
    return provider.tryOnce(process, START_MS + second * 1_000)?.kind;
  });

  expect(kinds.indexOf("later")).toBe(16);
  expect(new Set(kinds.slice(0, 16))).toEqual(new Set(["wait"]));
});

describe("an account with earlier rows", () => {
  const given = () => {
    const provider = createProvider();
    const other = createProcess(1, "other", 1_000);
    const ann = createProcess(2, "ann", 1);
    const until = START_MS + LEASE_MS;
    const taken = Object.fromEntries(SLOTS.map((slot) => [`slot_${slot}`, `${until} gone`]));
    provider.set({ ...KEY, ...taken, pace: 1_000 });
    for (const process of [other, ann])
      for (let tries = 0; tries < 2; tries++) {
        provider.read(process);
        provider.tryOnce(process, START_MS);
      }
    const getReturnMs = (atMs: number): number => {
      provider.read(ann);
      const decision = provider.tryOnce(ann, atMs);
      return decision?.kind === "later" ? decision.atMs - atMs : 0;
    };
    return { provider, getReturnMs };
  };

  test("other accounts stop waiting for an account once results exist for its rows", () => {
    const { provider, getReturnMs } = given();
    const before = getReturnMs(START_MS);
    const requester = { account: "other", priority: "list" } as const;
    const text = `${START_MS + LEASE_MS} gone`;
    const lease = { slot: 0, text, order: ORDER, requester };

    const work = { ms: 20_000, answered: 20, remaining: 0 };
    const change = endSession(provider.state(), lease, { end: null, work }, START_MS);
    provider.write(change as Change);
    provider.set({ ...(provider.item() as Item), slot_0: text });

    expect(before).toBeGreaterThan(10_000);
    expect(before - getReturnMs(START_MS)).toBeCloseTo(((20 * 1_000) / SLOTS.length) * 0.8, 0);
  });
});

test("an account that arrives later starts at the position of the others, and not before it", () => {
  const provider = createProvider();
  const [first, second] = [createProcess(1, "ann", 100), createProcess(2, "ann", 100)];
  const late = createProcess(3, "bob", 1);
  const until = START_MS + LEASE_MS;
  const full = Object.fromEntries(SLOTS.map((slot) => [`slot_${slot}`, `${until} gone`]));
  provider.set({ ...KEY, ...full });
  const tryNow = (process: Process) => {
    provider.read(process);
    return provider.tryOnce(process, START_MS);
  };
  for (const process of [first, second]) tryNow(process);
  const ticket = second.place.turn.ticket?.position;
  provider.set({ ...(provider.item() as Item), slot_0: `${START_MS} ended` });
  tryNow(second);
  provider.end(second, START_MS);
  provider.set({ ...(provider.item() as Item), ...full });

  tryNow(late);

  expect(late.place.turn.ticket?.position).toBe(ticket);
  expect(ticket).toBeGreaterThan(first.place.turn.ticket?.position ?? 0);
});

test("a process that draws a ticket removes ended lines and waits", () => {
  const provider = createProvider();
  const process = createProcess(1, "ann", 1);
  const until = START_MS + LEASE_MS;
  provider.set({
    ...KEY,
    ...Object.fromEntries(SLOTS.map((slot) => [`slot_${slot}`, `${until} gone`])),
    [`line_7 ${ORDER}`]: `${START_MS - 1} 100 1`,
    [`done_7 ${ORDER}`]: 50,
    [`waiter_gone ${ORDER}`]: `${START_MS - 1} 100 1`,
  });
  provider.read(process);

  expect(provider.tryOnce(process, START_MS)?.kind).toBe("draw");

  const { lines, waiters } = provider.state();
  expect([lines.has(7), waiters.size]).toEqual([false, 0]);
  expect(provider.item()?.[`done_7 ${ORDER}`]).toBeUndefined();
});

describe("two accounts that want one provider", () => {
  test("two accounts take turns by recipients, however many processes and rows one of them brings", () => {
    const provider = createProvider();
    const large = Array.from({ length: 20 }, (_, n) => createProcess(n, "large", 2_000));
    const small = createProcess(99, "small", 500);
    const countLarge = () => large.reduce((sum, { served }) => sum + served, 0);
    let whenSmallEnded = 0;

    workAll(provider, [...large, small], () => {
      if (small.left === 0) whenSmallEnded ||= countLarge();
    });

    // Sessions side by side, and those that were there first, are more than a share of the turns.
    expect(whenSmallEnded).toBeLessThan(500 * (SLOTS.length - 1) + 20 * BATCH);
  });
});

test("backoffs double up to ten minutes, and one good session resets them", () => {
  const provider = createProvider();
  const others = `${START_MS + LEASE_MS} other`;
  provider.set({ ...KEY, slot_0: others });
  const end = (refusal: typeof REFUSAL | null, atMs: number): number => {
    const change = endSession(
      provider.state(),
      NO_LEASE,
      { end: { refusal, needsCooldown: false } },
      atMs,
    );
    if (change) provider.write(change);
    return getBackoff(provider.state(), atMs).ms / 1_000;
  };
  const HOUR_MS = 3_600_000;

  const seconds = [0, 1, 2, 3, 4, 5, 6].map((hour) => end(REFUSAL, START_MS + hour * HOUR_MS));
  const none = end(null, START_MS + 7 * HOUR_MS);

  expect(seconds).toEqual([30, 60, 120, 240, 480, 600, 600]);
  expect([none, end(REFUSAL, START_MS + 8 * HOUR_MS)]).toEqual([0, 30]);
  // The sessions that ended had lost their lease to another.
  expect(provider.item()?.["slot_0"]).toBe(others);
});

const NO_LEASE: Lease = { slot: 0, text: "", order: ORDER, requester: null };
const REFUSAL = {
  host: "mx.example.com",
  ip: "192.0.2.1",
  result: {
    recipients: [],
    unknownRecipients: [],
    remaining: [],
    catchAllProbes: [],
    closedBy: "421",
    ending: null,
    tls: false,
    extensions: [],
  },
  transcript: [],
  attempts: [],
} as const;

test("slots, waits and backoffs that a wrong clock wrote count as absent", () => {
  const provider = createProvider();
  const far = START_MS + 24 * 3_600_000;
  provider.set({
    ...KEY,
    ...Object.fromEntries(SLOTS.map((slot) => [`slot_${slot}`, `${far} other`])),
    [`waiter_other ${ORDER}`]: `${far} 1 1`,
    backoff_until: far,
    failures: 3,
  });
  const process = createProcess(1, "ann", 1);
  provider.read(process);

  expect(listTakenSlots(provider.state(), START_MS)).toEqual([]);
  expect(provider.tryOnce(process, START_MS)?.kind).toBe("open");
});

test("the design page of mail slots contains the rules of the code", () => {
  const page = readFileSync("docs/design/mail-slots.md", "utf8").replaceAll(/ +/g, " ");
  const rows = RULES.map(({ when, decision }) => `| ${when} | ${decision} |`);

  expect(page).toContain(rows.join("\n"));
});
