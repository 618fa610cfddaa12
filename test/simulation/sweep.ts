import type { Damage } from "../app/faulty-worlds.ts";
import type { ClientRequest } from "./clients.ts";
import { FAULTS, type Fault } from "./process.ts";
import { type Mutant, runScript, type Script } from "./run-script.ts";

// Goal: there is no point at which one call, or any two, can go wrong and leave a lie or a loss behind.
// Method: each flow is played once to count its calls, then again with every fault at every call, and with every
// pair of faults at every two calls: some of the pairs here, all others by npx node test/simulation/cli.ts --pairs 1. The number in
// a failure is the call's.

const verifyOnce = (
  email: string,
  key: string | null = "key",
  { waitMs = 5_000, isShallow = false } = {},
): ClientRequest => ({ kind: "verify", email, key, waitMs, isShallow });
const list = ["valid", "invalid", "valid+1", "full", "unknown"].map(
  (word) => `${word}@example.com`,
);
const valid = "valid@example.com";
const waiting = ["greylisted@example.com", "ann@dnsfail.com", "unknown@example.com"];
const refusing = ["throttled@example.com", "blocked@example.com", "valid@example.com"];

/** A byte of the second of three chunks. */
const partOfInputs: Damage = (key) => (key.startsWith("inputs/") ? 60 : undefined);

export type Flow = Pick<
  Script,
  "balance" | "clients" | "damage" | "creditsPerShard" | "jumps" | "payers"
>;

type Flows = Readonly<Record<string, Flow>>;

export const VERIFICATIONS: Flows = {
  "a verification with a key": { balance: 10, clients: [[verifyOnce(valid)]] },
  "a verification without a key": { balance: 10, clients: [[verifyOnce(valid, null)]] },
  "one that is answered from the cache": {
    balance: 10,
    clients: [[verifyOnce(valid, null), verifyOnce(valid)]],
  },
  "one that takes too long": { balance: 10, clients: [[verifyOnce("slow@example.com")]] },
  "one that breaks on our side": { balance: 10, clients: [[verifyOnce("error@example.com")]] },
  "one that takes the last credit": { balance: 1, clients: [[verifyOnce(valid)]] },
  "one without enough credits": { balance: 0.5, clients: [[verifyOnce(valid)]] },
  "two that different shards pay": {
    balance: 3,
    creditsPerShard: 1,
    clients: [[verifyOnce(valid), verifyOnce("invalid@example.com", "other")]],
  },
  "one whose server greylists": { balance: 10, clients: [[verifyOnce("greylisted@example.com")]] },
  "one whose server throttles us": {
    balance: 10,
    clients: [[verifyOnce("throttled@example.com")]],
  },
  "one whose server blocks us": { balance: 10, clients: [[verifyOnce("blocked@example.com")]] },
  "the same key twice": { balance: 10, clients: [[verifyOnce(valid), verifyOnce(valid)]] },
  "an address of a form": { balance: 10, clients: [[{ kind: "form", key: "key", email: valid }]] },
  "an address of a form, without a key": {
    balance: 10,
    clients: [[{ kind: "form", key: null, email: "blocked@example.com" }]],
  },
  "one whose mail server is not asked": {
    balance: 10,
    clients: [[verifyOnce(valid, "key", { isShallow: true })]],
  },
};

export const JOBS: Flows = {
  "a batch": { balance: 20, clients: [[{ kind: "batch", key: "key", emails: list }]] },
  "a file that needs the credits of all shards": {
    balance: 6,
    creditsPerShard: 0.5,
    clients: [[verifyOnce(valid, null), { kind: "file", key: "key", emails: list }]],
  },
  "a file": { balance: 20, clients: [[{ kind: "file", key: "key", emails: list }]] },
  "a batch whose rows wait for several reasons": {
    balance: 20,
    clients: [[{ kind: "batch", key: "key", emails: waiting }]],
  },
  "a file that may not wait": {
    balance: 20,
    clients: [
      [{ kind: "file", key: "key", emails: [...waiting, "error@example.com"], maxWaitMinutes: 0 }],
    ],
  },
  "a batch behind a throttle, and behind a block": {
    balance: 20,
    clients: [[{ kind: "batch", key: "key", emails: refusing }]],
  },
  "a file behind a throttle, and behind a block": {
    balance: 20,
    clients: [[{ kind: "file", key: "key", emails: refusing, maxWaitMinutes: 1_440 }]],
  },
  "a batch whose mail servers are not asked": {
    balance: 20,
    clients: [[{ kind: "batch", key: "key", emails: list, isShallow: true }]],
  },
  "a file whose mail servers are not asked": {
    balance: 20,
    clients: [[{ kind: "file", key: "key", emails: list, isShallow: true }]],
  },
  "a file of whose list a part is damaged": {
    balance: 20,
    clients: [[{ kind: "file", key: "key", emails: list }]],
    damage: partOfInputs,
  },
  "a batch of whose list a part is damaged": {
    balance: 20,
    clients: [[{ kind: "batch", key: "key", emails: list }]],
    damage: partOfInputs,
  },
  "a file without a key": { balance: 20, clients: [[{ kind: "file", key: null, emails: list }]] },
};

/** Around the moment in which the first chunks are verified. */
const cancelAfterMs = 20_000;

export const CANCELLATIONS: Flows = {
  "a batch that is cancelled": {
    balance: 20,
    clients: [[{ kind: "batch", key: "key", emails: list, cancelAfterMs, isCancelledTwice: true }]],
  },
  "a file that is cancelled at once": {
    balance: 20,
    clients: [[{ kind: "file", key: "key", emails: list, cancelAfterMs: 0 }]],
  },
  "a file that is cancelled while rows wait": {
    balance: 20,
    clients: [[{ kind: "file", key: null, emails: [...waiting, valid], cancelAfterMs: 90_000 }]],
  },
  "a verification that takes too long and is cancelled": {
    balance: 10,
    clients: [[{ ...verifyOnce("slow@example.com"), cancelAfterMs }]],
  },
};

/** Two chunks. */
const short = [valid, "invalid@example.com", "valid+1@example.com"];

/** Three rows in two chunks, verified again when they have results. */
const verifiedAgain = (
  more: { cancelAfterMs?: number; correctedTo?: string; emails?: readonly string[] } = {},
): Flow => {
  const { correctedTo, emails = short, ...cancelling } = more;
  const again = { afterMs: 60_000, ...(correctedTo !== undefined && { correctedTo }) };
  return {
    balance: 20,
    clients: [[{ kind: "batch", key: "key", emails, again, ...cancelling }]],
  };
};

/** A newer list without one address and with two others: of its three chunks one is verified, and one is mixed. */
const continued = (more: { cancelAfterMs?: number } = {}): Flow => ({
  balance: 20,
  clients: [
    [
      {
        kind: "batch",
        key: "key",
        emails: short,
        continued: {
          afterMs: 60_000,
          emails: [valid, "valid+1@example.com", "valid+2@example.com", "valid+3@example.com"],
        },
        ...more,
      },
    ],
  ],
});

export const CONTINUATIONS: Flows = {
  "a list that a newer one continues": continued(),
  "a list that a newer one continues, which is cancelled": continued({ cancelAfterMs }),
};

export const DELETIONS: Flows = {
  "a batch that is deleted": {
    balance: 20,
    clients: [
      [{ kind: "batch", key: "key", emails: short, deleteAfterMs: 60_000, isDeletedTwice: true }],
    ],
  },
  "a file that is cancelled while a worker has it, and deleted at once": {
    balance: 20,
    clients: [[{ kind: "file", key: "key", emails: short, cancelAfterMs, deleteAfterMs: 0 }]],
  },
  "a verification that takes too long and is deleted": {
    balance: 10,
    clients: [[{ ...verifyOnce("slow@example.com"), deleteAfterMs: 60_000 }]],
  },
};

export const CHILDREN: Flows = {
  "a batch that is verified again": verifiedAgain(),
  "a batch that is corrected to an address of its own": verifiedAgain({
    correctedTo: "example.org",
    emails: [valid, "invalid@example.com", "valid@example.org"],
  }),
  "a batch that is corrected": verifiedAgain({ correctedTo: "dnsfail.com" }),
  "a batch that is verified again, which is cancelled": verifiedAgain({ cancelAfterMs }),
};

const eraseAddress = (afterMs: number): ClientRequest => ({
  kind: "erase",
  key: null,
  email: valid,
  afterMs,
});

export const ERASURES: Flows = {
  "an address that is erased from a file and a response": {
    balance: 20,
    clients: [
      [verifyOnce(valid), { kind: "file", key: "other", emails: short }, eraseAddress(90_000)],
    ],
  },
  "an address that is erased while a batch verifies it": {
    balance: 20,
    clients: [[{ kind: "batch", key: "key", emails: short }, eraseAddress(0)]],
  },
};

const checkDomain = (
  key: string | null = "key",
  { domain = "example.com", refresh = false } = {},
): ClientRequest => ({ kind: "check", key, domain, refresh });
const failing = { domain: "nodmarc.com", refresh: true };

export const CHECKS: Flows = {
  "a check with a key": { balance: 20, clients: [[checkDomain()]] },
  "a check without a key": { balance: 20, clients: [[checkDomain(null)]] },
};

export const MORE_CHECKS: Flows = {
  "one that the cache answers": { balance: 20, clients: [[checkDomain(null), checkDomain()]] },
  "one of a domain whose name servers do not reply": {
    balance: 20,
    clients: [[checkDomain("key", { domain: "dnsfail.com" })]],
  },
  "one that breaks": { balance: 20, clients: [[checkDomain("key", { domain: "error.com" })]] },
  "two at once that find the same fault": {
    balance: 30,
    clients: [[checkDomain("key", { domain: "nodmarc.com" })], [checkDomain(null, failing)]],
  },
};

const searchPerson = (key: string): ClientRequest => ({ kind: "find", key });

export const SEARCHES: Flows = {
  "a search": { balance: 10, clients: [[searchPerson("Valid")]] },
  "a search that breaks on our side": { balance: 5, clients: [[searchPerson("Error")]] },
  "a search without enough credits": { balance: 4.5, clients: [[searchPerson("Valid")]] },
};

export const MORE_SEARCHES: Flows = {
  "a search that takes too long": { balance: 10, clients: [[searchPerson("Slow")]] },
  "the same search twice": {
    balance: 20,
    clients: [[searchPerson("Valid"), searchPerson("Valid")]],
  },
  "the same search by two at once": {
    balance: 20,
    clients: [[searchPerson("Valid")], [searchPerson("Valid")]],
  },
};

const testMail = (key: string | null, ...mailsAfterMs: readonly number[]): ClientRequest => ({
  kind: "mail_test",
  key,
  mailsAfterMs,
  lingerMs: 70_000,
});
/** The clock reaches the end of the address a moment later. */
const hour = [{ afterMs: 10_000, byMs: 3_600_000 }];

export const MAIL_TESTS: Flows = {
  "a mail test that gets no mail": { balance: 10, clients: [[testMail("key")]], jumps: hour },
  "a mail test that gets its mail": { balance: 10, clients: [[testMail("key", 1_000)]] },
  "a mail test that is refunded while its mail comes": {
    balance: 10,
    clients: [[testMail(null, 9_990, 60_000)]],
    jumps: hour,
  },
  "a mail test that gets two mails": {
    balance: 10,
    creditsPerShard: 1,
    clients: [[testMail("key", 1_000, 1_000)]],
  },
};

/** Clients of one person, or of a person and of a key. Both limits are as high as the first list needs. */
const limited = { persons: [10], byClient: [0, 0], account: 10 };

export const LIMITED: Flows = {
  "a verification of a person that breaks on our side": {
    balance: 10,
    clients: [[verifyOnce("error@example.com")]],
    payers: limited,
  },
  "two lists of a person with credits for one": {
    balance: 20,
    clients: [
      [{ kind: "batch", key: "key", emails: list }],
      [{ kind: "file", key: "other", emails: list }],
    ],
    payers: limited,
  },
  "a file of a person that is cancelled, and one of a key": {
    balance: 20,
    clients: [
      [{ kind: "file", key: "key", emails: list, cancelAfterMs }],
      [{ kind: "file", key: "other", emails: short }],
    ],
    payers: { ...limited, byClient: [0, null] },
  },
  "a mail test of a person that gets no mail": {
    balance: 10,
    clients: [[testMail("key")]],
    jumps: hour,
    payers: limited,
  },
};

/** All of them. Those with the most calls come last: who searches one history finds it sooner. */
export const FLOWS: Flows = {
  ...MORE_CHECKS,
  ...VERIFICATIONS,
  ...CHECKS,
  ...SEARCHES,
  ...MORE_SEARCHES,
  ...MAIL_TESTS,
  ...CANCELLATIONS,
  ...JOBS,
  ...DELETIONS,
  ...CHILDREN,
  ...CONTINUATIONS,
  ...ERASURES,
  ...LIMITED,
};

/** These are swept with pairs of faults, too; the others have many calls, or only repeat what one of these has in it. */
export const PAIRED_FLOWS: Flows = {
  ...VERIFICATIONS,
  ...JOBS,
  ...CANCELLATIONS,
  ...CHECKS,
  ...SEARCHES,
};

/** Which fault at which call. */
export type FaultPlan = ReadonlyMap<number, Fault>;

/** How many calls it took, and what was wrong. */
export const runFlow = async (flow: Flow, planned: FaultPlan, mutant: Mutant = {}) => {
  let calls = 0;
  const wrong = await runScript({
    ...flow,
    plan: () => planned.get(calls++),
    latencyMs: () => 0,
    mutant,
  });
  return { calls, wrong };
};

const undisturbed = new Map<Flow, ReturnType<typeof runFlow>>();

/** The flow without faults, played once for all who ask. */
export const runUndisturbed = (flow: Flow): ReturnType<typeof runFlow> => {
  const played = undisturbed.get(flow) ?? runFlow(flow, new Map());
  undisturbed.set(flow, played);
  return played;
};

export const toHistoryName = (flow: string, planned: FaultPlan): string =>
  `${flow}: ${[...planned].map(([call, fault]) => `${fault} at call ${call}`).join(", ")}`;

/** Every fault at every call of the flow. */
export function* listSingleFaults(calls: number): Generator<FaultPlan> {
  for (let at = 0; at < calls; at++) for (const fault of FAULTS) yield new Map([[at, fault]]);
}

/** One that stalls is slow before it is lost; alone it was tried already, and pairs are many. */
const PAIRED_FAULTS = FAULTS.filter((fault) => fault !== "stall" && fault !== "partial");

/** Every two faults at every two calls. The second may lie beyond the calls of the undisturbed flow. */
function* listFaultPairs(calls: number): Generator<FaultPlan> {
  for (let first = 0; first < calls; first++)
    for (let second = first + 1; second < calls + FURTHER_CALLS; second++)
      for (const one of PAIRED_FAULTS)
        for (const other of PAIRED_FAULTS)
          yield new Map([
            [first, one],
            [second, other],
          ]);
}

/** One pair in so many: a prime, so that in the long run each fault meets each other one at each distance. */
const SAMPLED_EVERY = 97;
const isSampled = (nth: number): boolean => nth % SAMPLED_EVERY === 0;

export const sampleFaultPairs = (calls: number): Iterable<FaultPlan> =>
  listFaultPairs(calls).filter((_, nth) => isSampled(nth));

/** Those that no sweep plays. */
export const listFurtherPairs = (flow: string, calls: number): Iterable<FaultPlan> =>
  listFaultPairs(calls).filter((_, nth) => !(flow in PAIRED_FLOWS && isSampled(nth)));

/** A repeat after the first fault makes about as many calls as the first try. */
const FURTHER_CALLS = 12;
