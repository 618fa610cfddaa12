import { createSessionShares } from "@mailproof/core/smtp-pool/fairness";
import type { Process } from "@mailproof/core/smtp-pool/process-rules";
import { createProviderRegistry } from "@mailproof/core/smtp-pool/providers";
import { decide } from "@mailproof/core/smtp-pool/slots/decide";
import { toSlotKey } from "@mailproof/core/smtp-pool/slots/slots";
import { expect, test } from "vitest";

// Goal: what this process knows of a recipient, an account or a host queue decides before the provider is asked.

const SLOT_KEY = toSlotKey({ host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] });
const CONNECTIONS = SLOT_KEY.slots.length;
const REFUSAL = {
  isLasting: true,
  refusal: {
    host: "mx.example.com",
    ip: "192.0.2.1",
    stage: "mail",
    reply: { code: 550, enhanced: "5.7.1", text: "blocked" },
  },
} as const;

type Recipient = NonNullable<Process["recipient"]>;
type Queue = NonNullable<Process["queue"]>;

const decideForRecipient = (change: Partial<Recipient>) => {
  const free = { isOverDailyLimit: false, refusal: null, isTurnedAway: false, isExitClosed: false };
  return decide({ recipient: { ...free, ...change } }, null);
};

const decideForQueue = (change: Partial<Queue>, provider: Partial<Queue["provider"]> = {}) => {
  const use = createProviderRegistry().getProviderUse(SLOT_KEY);
  const queue: Queue = {
    provider: { ...use, ...provider },
    host: { sessions: 0, queues: 1, withoutPipelining: 0 },
    slotKey: SLOT_KEY,
    sessions: 0,
    isFull: false,
    hasJustOpened: false,
    gathersFor: null,
    opener: { account: "ann", priority: "list" },
    isHeld: false,
    recipients: 3,
    batchSize: 25,
    mayAcquire: true,
  };
  return decide({ queue: { ...queue, ...change } }, null).kind;
};

test("a recipient returns first for the daily limit, then for the circuit, then for the backoff", () => {
  const all = { isOverDailyLimit: true, refusal: REFUSAL, isTurnedAway: true, isExitClosed: true };

  expect(decideForRecipient(all)).toEqual({ kind: "answer", why: "daily_limit" });
  expect(decideForRecipient({ ...all, isOverDailyLimit: false })).toEqual({
    kind: "answer",
    why: "circuit",
    refusal: REFUSAL,
  });
  expect(decideForRecipient({ isTurnedAway: true, isExitClosed: true })).toEqual({
    kind: "answer",
    why: "backoff",
  });
});

test("a recipient leaves an exit that is closed to it, and otherwise asks the provider", () => {
  expect(decideForRecipient({ isExitClosed: true }).kind).toBe("leave");
  expect(decideForRecipient({}).kind).toBe("ask");
});

test("an account waits once it holds four times as many sessions as are free", () => {
  const open = (count: number, free: number) => decide({ account: { open: count, free } }, null);

  expect(open(39, 10).kind).toBe("ask");
  expect(open(40, 10).kind).toBe("join");
});

test("a list gets fewer free sessions than a caller, even while no session is open", () => {
  const shares = createSessionShares(100);

  expect(shares.count({ account: "ann", priority: "caller" })).toEqual({ open: 0, free: 100 });
  expect(shares.count({ account: "ann", priority: "list" })).toEqual({ open: 0, free: 90 });
});

test("a queue joins the sessions of its host or provider once they reach the limit", () => {
  const host = (sessions: number) => ({ host: { sessions, queues: 1, withoutPipelining: 0 } });

  expect(decideForQueue(host(CONNECTIONS - 1))).toBe("ask");
  expect(decideForQueue(host(CONNECTIONS))).toBe("join");
  expect(decideForQueue({}, { sessions: CONNECTIONS })).toBe("join");
});

test("a queue opens one session after a backoff, and none during the backoff", () => {
  expect(decideForQueue({}, { failures: 1 })).toBe("ask");
  expect(decideForQueue({}, { failures: 1, sessions: 1 })).toBe("join");
  expect(decideForQueue({}, { isBackingOff: true })).toBe("join");
});

test("a queue collects recipients after a session has begun, unless none is open or the next one would be full", () => {
  const begun = { hasJustOpened: true, sessions: 1 };

  expect(decideForQueue(begun)).toBe("gather");
  expect(decideForQueue({ ...begun, sessions: 0 })).toBe("ask");
  expect(decideForQueue({ ...begun, recipients: 25 })).toBe("ask");
});

test("a queue collects the rows of a large list, and neither its callers nor another account's rows", () => {
  const gathersFor = "ann";

  expect(decideForQueue({ gathersFor })).toBe("gather");
  expect(decideForQueue({ gathersFor, opener: { account: "ann", priority: "caller" } })).toBe(
    "ask",
  );
  expect(decideForQueue({ gathersFor, opener: { account: "bo", priority: "list" } })).toBe("ask");
});

test("a queue pauses while this process holds every slot of the host, or found none free", () => {
  expect(decideForQueue({ mayAcquire: false })).toBe("pause");
  expect(decideForQueue({ isFull: true })).toBe("pause");
});
