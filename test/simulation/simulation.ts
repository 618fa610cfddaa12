import type { ClientRequest } from "./clients.ts";
import type { Payers } from "./payers.ts";
import { FAULTS, type Plan } from "./process.ts";
import { createRandom } from "./random.ts";
import { type Fleet, type Jump, type Mutant, runScript, type Script } from "./run-script.ts";

/** `npm run check` plays the first histories; `npm run test:all` plays all. */
export const SMOKE_SEEDS = 50;
export const ALL_SEEDS = 100;

/** What mail servers say, and whether the domain can be looked up: rows of one chunk are deferred by several causes. */
const ADDRESSES = [
  ...[
    "valid",
    "invalid",
    "full",
    "unknown",
    "greylisted",
    "slow",
    "error",
    "throttled",
    "blocked",
  ].map((word) => [word, "example.com"] as const),
  ["valid", "dnsfail.com"] as const,
];
/** None, one that ends within a schedule, the default, the longest. */
const WAITS = [0, 5, undefined, 1_440];
const DOMAINS = ["example.com", "nodmarc.com", "error.com", "dnsfail.com"];
const KINDS = ["verify", "verify", "batch", "file", "check", "find"] as const;
const FIRST_NAMES = ["Valid", "Valid", "Invalid", "Slow", "Error"];
const RATES = [0, 0.01, 0.05, 0.2];

const MINUTE = 60_000;
/**
 * Set back by any time; forwards by less than an Idempotency-Key is kept, for after that it may be charged again.
 */
const JUMPS_MS = [-30 * 24 * 60, -12 * 24 * 60, -120, -20, 20, 120].map((min) => min * MINUTE);

const createJumps = (seed: number): readonly Jump[] => {
  // A chance of its own, as above.
  const chance = createRandom(seed + 2_000_000);
  const below = (most: number) => Math.floor(chance() * most);
  return Array.from({ length: below(3) }, () => ({
    afterMs: below(90_000),
    byMs: JUMPS_MS[below(JUMPS_MS.length)] ?? 0,
  }));
};

/** How long a transaction occupies its items, in milliseconds. In the other histories no transaction meets another. */
const BUSY_MS = [undefined, 4, 15, 60];

/** How many credits a shard has: at the default these small balances have one shard. */
const CREDITS_PER_SHARD = [undefined, 0.5, 2, 5];

/** In so many histories a disk is broken. */
const DAMAGED_HISTORIES = 0.3;
/** Where in an input: beyond the end of a short one nothing is damaged. */
const DAMAGED_WITHIN = 200;

const CANCELLED_REQUESTS = 0.3;
/** Before the first worker looks at a queue, around that moment, while rows are verified, and while some wait. */
const CANCEL_AFTER_MS = [0, 19_500, 20_000, 30_000, 10 * MINUTE];
/** So much later: long enough for some calls of a worker. */
const CANCEL_SPREAD_MS = 1_000;

const cancelSome = (request: ClientRequest, chance: () => number): ClientRequest => {
  const after = CANCEL_AFTER_MS[Math.floor(chance() * CANCEL_AFTER_MS.length)] ?? 0;
  const cancelAfterMs = after + Math.floor(chance() * CANCEL_SPREAD_MS);
  const isCancelledTwice = chance() < 0.5;
  return chance() < CANCELLED_REQUESTS ? { ...request, cancelAfterMs, isCancelledTwice } : request;
};

const DELETED_JOBS = 0.3;
/** At once, while rows are verified or a cancelled worker still stores some, and when the job has long ended. */
const DELETE_AFTER_MS = [0, 500, 20_000, 15 * MINUTE];

const deleteSome = (request: ClientRequest, chance: () => number): ClientRequest => {
  const after = DELETE_AFTER_MS[Math.floor(chance() * DELETE_AFTER_MS.length)] ?? 0;
  const deleteAfterMs = after + Math.floor(chance() * CANCEL_SPREAD_MS);
  const isDeletedTwice = chance() < 0.3;
  return chance() < DELETED_JOBS ? { ...request, deleteAfterMs, isDeletedTwice } : request;
};

const REPEATED_JOBS = 0.4;
/** While it is open, when it has just ended, and when nothing waits any more. */
const AGAIN_AFTER_MS = [0, 25_000, 60_000, 90 * MINUTE];

const verifySomeAgain = (request: ClientRequest, chance: () => number): ClientRequest => {
  const after = AGAIN_AFTER_MS[Math.floor(chance() * AGAIN_AFTER_MS.length)] ?? 0;
  const afterMs = after + Math.floor(chance() * CANCEL_SPREAD_MS);
  const again = { afterMs, ...(chance() < 0.5 && { correctedTo: "dnsfail.com" }) };
  const isAgain = chance() < REPEATED_JOBS;
  const isList = request.kind === "batch" || request.kind === "file";
  return isAgain && isList ? { ...request, again } : request;
};

const FORMS = 0.25;

/** A visitor typed the address that a program would have sent. */
const askSomeByForm = (request: ClientRequest, chance: () => number): ClientRequest => {
  const isForm = chance() < FORMS;
  if (request.kind !== "verify" || !isForm) return request;
  const { waitMs: _, isShallow: __, ...form } = request;
  return { ...form, kind: "form" };
};

const withForms = ({ clients, ...script }: Script, seed: number): Script => {
  // A chance of its own, as above.
  const chance = createRandom(seed + 10_000_000);
  const toForms = (requests: readonly ClientRequest[]) =>
    requests.map((request) => askSomeByForm(request, chance));
  return { ...script, clients: clients.map(toForms) };
};

const ERASING_CLIENTS = 0.3;
/** At once, while rows are verified, and when nothing waits any more. */
const ERASE_AFTER_MS = [0, 25_000, 90 * MINUTE];
/** Between its other requests such a client erases an address that lists and verifications have. */
const eraseSome = (
  requests: readonly ClientRequest[],
  chance: () => number,
): readonly ClientRequest[] => {
  const isErasing = chance() < ERASING_CLIENTS;
  const at = Math.floor(chance() * (requests.length + 1));
  const email = `valid+${Math.floor(chance() * 3)}@example.com`;
  const afterMs = ERASE_AFTER_MS[Math.floor(chance() * ERASE_AFTER_MS.length)] ?? 0;
  const erase = { kind: "erase", key: null, email, afterMs } as const;
  return isErasing ? requests.toSpliced(at, 0, erase) : requests;
};

/** A history that a number decides: who wants what, who shares a key, what is lost and who crashes. */
export const createScript = (seed: number): Script => {
  const chance = createRandom(seed);
  const below = (most: number) => Math.floor(chance() * most);
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T;

  // A chance of its own: what else is drawn stays what it was before there was this to draw.
  const depth = createRandom(seed + 1_000_000);
  const rate = oneOf(RATES);
  const plan: Plan = () => (chance() < rate ? oneOf(FAULTS) : undefined);
  const email = () => {
    const [word, domain] = oneOf(ADDRESSES);
    return `${word}+${below(3)}@${domain}`;
  };
  const emails = () => Array.from({ length: 1 + below(7) }, email);
  const createRequest = (): ClientRequest => {
    // Few keys: clients race for one, and some change their mind about what it stands for.
    const key = chance() < 0.7 ? `key-${below(4)}` : null;
    const kind = oneOf(KINDS);
    if (kind === "check") return { kind, key, domain: oneOf(DOMAINS), refresh: chance() < 0.5 };
    if (kind === "find") return { kind, key: oneOf(FIRST_NAMES) };
    const shallow = depth() < 0.2 && { isShallow: true };
    if (kind === "verify")
      return { kind, key, email: email(), waitMs: oneOf([100, 5_000, 25_000]), ...shallow };
    const maxWaitMinutes = oneOf(WAITS);
    return {
      kind,
      key,
      emails: emails(),
      ...shallow,
      ...(maxWaitMinutes !== undefined && { maxWaitMinutes }),
    };
  };
  // A chance of its own, as well.
  const disk = createRandom(seed + 3_000_000);
  const damagedShare = disk() < DAMAGED_HISTORIES ? disk() : 0;
  const damagedOffsets = new Map<string, number | undefined>();
  const damage = (key: string): number | undefined => {
    if (!key.startsWith("inputs/")) return undefined;
    if (!damagedOffsets.has(key))
      damagedOffsets.set(
        key,
        disk() < damagedShare ? Math.floor(disk() * DAMAGED_WITHIN) : undefined,
      );
    return damagedOffsets.get(key);
  };
  // A chance of its own, as well.
  const traffic = createRandom(seed + 4_000_000);
  const busyMs = BUSY_MS[Math.floor(traffic() * BUSY_MS.length)];
  const creditsPerShard = CREDITS_PER_SHARD[Math.floor(traffic() * CREDITS_PER_SHARD.length)];
  // A chance of its own, as well.
  const cancelling = createRandom(seed + 5_000_000);
  // Two chances of their own, as well.
  const deleting = createRandom(seed + 6_000_000);
  const erasing = createRandom(seed + 7_000_000);
  // A chance of its own, as well.
  const repeating = createRandom(seed + 8_000_000);
  const createRequests = () =>
    eraseSome(
      Array.from({ length: 1 + below(3) }, () =>
        verifySomeAgain(deleteSome(cancelSome(createRequest(), cancelling), deleting), repeating),
      ),
      erasing,
    );
  return {
    balance: below(24) / 2 + below(36),
    clients: Array.from({ length: 1 + below(4) }, createRequests),
    plan,
    damage,
    latencyMs: () => below(30),
    ...(creditsPerShard !== undefined && { creditsPerShard }),
    ...(busyMs !== undefined && { busyMs: () => traffic() * busyMs }),
    jumps: createJumps(seed),
  };
};

/** What was wrong in the history of this seed. */
export const run = (seed: number, mutant: Mutant = {}): Promise<readonly string[]> =>
  runScript({ ...withForms(createScript(seed), seed), mutant });

const PERSONS = 0.7;
const LIMITS = 0.7;
const LIMIT_HALVES_MAX = 24;

/** Two persons send most of the requests, some with limits, so that clients race for what a person may spend. */
const createPayers = ({ clients }: Script, seed: number): Payers => {
  // A chance of its own, as above.
  const chance = createRandom(seed + 11_000_000);
  const below = (most: number) => Math.floor(chance() * most);
  const limit = () => (chance() < LIMITS ? below(LIMIT_HALVES_MAX) : null);
  return {
    persons: [limit(), limit()],
    byClient: clients.map(() => (chance() < PERSONS ? below(2) : null)),
    account: chance() < 0.5 ? below(2 * LIMIT_HALVES_MAX) : null,
  };
};

/** The history of this seed, paid by persons and by an account with limits. */
export const runWithPayers = (seed: number, mutant: Mutant = {}): Promise<readonly string[]> => {
  const script = withForms(createScript(seed), seed);
  return runScript({ ...script, balance: 60, payers: createPayers(script, seed), mutant });
};

/**
 * The same where the release of each process is drawn. 0.2.0 has no forms; and what is damaged on a disk, an adapter reports
 * by an error of its own release, and here all have one.
 */
export const runMixed = (
  seed: number,
  during: Fleet["during"],
  after: Fleet["after"],
  hasPayers = false,
): Promise<readonly string[]> => {
  const { damage: _, ...own } = createScript(seed);
  const script = hasPayers ? { ...own, payers: createPayers(own, seed) } : own;
  // A chance of its own, as well.
  return runScript({ ...script, fleet: { during, after, chance: createRandom(seed + 9_000_000) } });
};
