import type { AppWorld } from "@mailproof/core/app-world";
import type { MoneyOutcome } from "@mailproof/core/failure";
import type { Transacted } from "@mailproof/core/table";
import { down, overTable, replyless, stopping, turn, unread } from "./breaking.ts";
import { givenKey } from "./given.ts";
import type { House } from "./jobs.ts";
import { send, type Told } from "./send.ts";
import { whenReconciled } from "./working.ts";

// Ways to fail, each as what is out of order, what is told then, and how it comes about.

export type Failing = {
  readonly what: string;
  readonly code: string;
  readonly given?: (house: House) => Promise<unknown>;
  readonly when: (house: House) => Promise<Told>;
  /** Where only one word for the money will do. */
  readonly money?: MoneyOutcome;
  /** What is sent again, where it is not what the route is sold as. */
  readonly repeat?: Asking;
};

const full = async () => ({ allowed: false, limit: 1, remaining: 0, resetAt: 1_795_219_260 });

/** What any route behind a key answers before it does anything. */
export const atTheDoor = (route: string): readonly Failing[] => [
  { what: "no key", code: "UNAUTHORIZED", when: ({ world }) => send(world, route) },
  {
    what: "a key for something else",
    code: "FORBIDDEN",
    when: async ({ world, account }) =>
      send(world, route, { key: await givenKey(world, account, { scopes: ["account:read"] }) }),
  },
  {
    what: "one request too many",
    code: "RATE_LIMITED",
    when: ({ world, liveKey: key }) => send({ ...world, rateLimit: full }, route, { key }),
  },
  {
    what: "a request that cannot be counted",
    code: "UNAVAILABLE",
    when: ({ world, liveKey: key }) => send({ ...world, rateLimit: down }, route, { key }),
  },
  {
    what: "a key that cannot be looked up",
    code: "UNAVAILABLE",
    when: (house) => send(overTable(house, { get: down }), route, { key: house.liveKey }),
  },
];

/**
 * What refuses a repeat before its Idempotency-Key is looked up. The first request was charged; the answer to the
 * second may not say otherwise, nor let its caller send a third under another key.
 */
export const beforeTheLookUp = (
  ask: Asking,
  given: (house: House) => Promise<unknown> = async () => undefined,
): readonly Failing[] => {
  const repeat = (what: string, code: string, when: (house: House) => Promise<Told>): Failing => ({
    what: `${what} at a repeat`,
    code,
    given: async (house) => {
      await given(house);
      await ask(house.world, house, "k");
    },
    when,
    money: "retry_same_key",
    repeat: ask,
  });
  const inWorld = (more: (house: House) => Partial<AppWorld>) => (house: House) =>
    ask({ ...house.world, ...more(house) }, house, "k");
  const withKey = (make: (house: House) => Promise<string>) => async (house: House) =>
    ask(house.world, { ...house, liveKey: await make(house) }, "k");
  return [
    repeat(
      "pressure",
      "UNAVAILABLE",
      inWorld(() => ({ pressure: () => "event_loop_late" })),
    ),
    repeat(
      "a damaged state",
      "UNAVAILABLE",
      inWorld(() => ({ damagedParts: () => new Set(["x"]) })),
    ),
    repeat(
      "one request too many",
      "RATE_LIMITED",
      inWorld(() => ({ rateLimit: full })),
    ),
    repeat(
      "a request that cannot be counted",
      "UNAVAILABLE",
      inWorld(() => ({ rateLimit: down })),
    ),
    repeat("a key that cannot be looked up", "UNAVAILABLE", (house) =>
      ask(overTable(house, { get: down }), house, "k"),
    ),
    repeat(
      "a key that is not in force any more",
      "UNAUTHORIZED",
      withKey(async () => "mp_live_x"),
    ),
    repeat(
      "a key for something else",
      "FORBIDDEN",
      withKey(({ world, account }) => givenKey(world, account, { scopes: ["account:read"] })),
    ),
  ];
};

/** A request in this world, by the live key of this house. */
export type Asking = (world: AppWorld, house: House, idempotencyKey?: string) => Promise<Told>;

/** A request that stops right after the debit, and what lets it go on. */
export const whenStopped = async (house: House, ask: Asking, idempotencyKey?: string) => {
  const { world, goOn } = stopping(house, 1);
  const told = ask(world, house, idempotencyKey);
  await turn();
  return { told, goOn };
};

/** Stopped until its lease is over and the reconciler has gone on with it. */
export const whenOvertaken = async (
  house: House,
  ask: Asking,
  leaseMs: number,
  idempotencyKey?: string,
): Promise<Told> => {
  const { told, goOn } = await whenStopped(house, ask, idempotencyKey);
  house.later(leaseMs);
  await whenReconciled(house);
  goOn();
  return told;
};

type Codes = readonly [without: string, withOne: string];

export const BOTH_UNAVAILABLE: Codes = ["UNAVAILABLE", "UNAVAILABLE"];
export const BOTH_INTERNAL: Codes = ["INTERNAL", "INTERNAL"];
export const BY_KEY: Codes = ["INTERNAL", "UNAVAILABLE"];

export const WITHOUT_AND_WITH = [
  ["", undefined],
  [", under an Idempotency-Key", "k"],
] as const;

/** One fault, as it is told without an Idempotency-Key and with one. */
export const eitherWay =
  (ask: Asking, before: Pick<Failing, "given" | "repeat"> = {}) =>
  (
    what: string,
    codes: Codes,
    worldOf: (house: House) => AppWorld | Promise<AppWorld>,
  ): readonly Failing[] =>
    WITHOUT_AND_WITH.map(([how, key], at) => ({
      ...before,
      what: what + how,
      code: codes[at] ?? "",
      when: async (house) => ask(await worldOf(house), house, key),
    }));

/** No reply comes from one transaction on, whether it was written or not. */
export const lostReply =
  (either: ReturnType<typeof eitherWay>) =>
  (what: string, codes: Codes, worldOf: (house: House) => AppWorld, from: number) =>
    [true, false].flatMap((written) =>
      either(`no reply to ${what}, which was ${written ? "" : "not "}written`, codes, (house) =>
        replyless(house, worldOf(house), from, written),
      ),
    );

/** What can be wrong with the ledger before anything is written to it. */
export const overTheLedger = (either: ReturnType<typeof eitherWay>) => [
  ...either("a balance that cannot be read", BOTH_UNAVAILABLE, (house) =>
    unread(house, "BALANCE#"),
  ),
  ...either("a payment that cannot be written", BOTH_UNAVAILABLE, (house) =>
    overTable(house, { transact: down }),
  ),
  ...either("a balance that never stands still", BOTH_UNAVAILABLE, (house) =>
    overTable(house, { transact: moving }),
  ),
];

/** Always refused, and never by what was there first: as if another had moved the balance each time. */
const moving = async ([first, second = first]: readonly unknown[]) =>
  ({ outcome: "refused", by: second }) as Transacted;
