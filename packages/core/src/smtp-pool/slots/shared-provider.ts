import type { SessionOutcome } from "@mailproof/mail/smtp/connect";
import { isFault } from "@mailproof/mail/smtp/wire";
import * as v from "valibot";
import { isUnexpired } from "../../lib/time.ts";
import type { Fields, Item, Key, Where } from "../../ports/table.ts";
import { BACKOFF_MAX_MS, getNextBackoff, type SessionEnd } from "../backoff.ts";
import { StoredRefusal, toRefusal, toStoredRefusal } from "../circuit-breaker/stored-refusal.ts";
import { SESSION_MS } from "../session-time.ts";
import { PAUSE_MS, type ProviderBackoff, type SessionWork } from "./slots.ts";

// Layout. All processes share one small item per mail provider and exit: its slots and its backoff. A process acquires a slot by
// a write whose conditions are that the slot is free and that no backoff began; it reads the item once before.
//
//   pk               sk      what
//   PROVIDER#<name>  SHARED  slot_<n>: "<until, ms> <token>", the lease of slot n
//                            backoff_until (ms), failures (in a row), refusal (the reply): after a 421
//                            wanted_until (ms): a process waits for a slot (wait-queue-items.ts)
//                            pace (ms): how long a session takes for a recipient, on average

export type SharedProvider = v.InferOutput<typeof SharedProvider> & {
  readonly slots: ReadonlyMap<number, string>;
};

/** Longer than any session with its read before and its write after: a crash leaks a slot no longer than this. */
export const LEASE_MS = SESSION_MS + 30_000;
/** An item that no process has written for so long expires, with its failures. */
const RETENTION_SECONDS = 1_800;
/** Longer than any pause of a waiting process, so that none of them is overlooked. */
const WAIT_MARK_MS = 3 * PAUSE_MS;

const SharedProvider = v.object({
  backoff_until: v.optional(v.number(), 0),
  failures: v.optional(v.number(), 0),
  wanted_until: v.optional(v.number(), 0),
  pace: v.optional(v.number()),
  refusal: v.optional(StoredRefusal),
});

export const toItemKey = (limitKey: string): Key => ({
  pk: `PROVIDER#${limitKey}`,
  sk: "SHARED",
});

export const parseSharedProvider = (item: Item | undefined): SharedProvider => ({
  ...v.parse(SharedProvider, item ?? {}),
  slots: new Map(Object.entries(item ?? {}).flatMap(parseSlotField)),
});

const parseSlotField = ([field, value]: [string, unknown]): [number, string][] =>
  field.startsWith(SLOT_PREFIX) && typeof value === "string"
    ? [[Number(field.slice(SLOT_PREFIX.length)), value]]
    : [];

export const toSlotField = (slot: number): string => `${SLOT_PREFIX}${slot}`;
const SLOT_PREFIX = "slot_";

export const formatLease = (token: string, atMs: number): string => `${atMs + LEASE_MS} ${token}`;

/** The slots that processes hold. */
export const listTakenSlots = ({ slots }: SharedProvider, atMs: number): readonly number[] =>
  [...slots].flatMap(([slot, text]) => (isExpired(text, atMs) ? [] : [slot]));

const isExpired = (text: string, atMs: number): boolean =>
  !isUnexpired(Number(text.split(" ", 1)[0]), atMs, LEASE_MS);

const isClosed = ({ backoff_until }: SharedProvider, atMs: number): boolean =>
  isUnexpired(backoff_until, atMs, BACKOFF_MAX_MS);

export const getBackoff = (shared: SharedProvider, atMs: number): ProviderBackoff | null => {
  const { backoff_until, failures, refusal } = shared;
  return isClosed(shared, atMs)
    ? { ms: backoff_until - atMs, failures, refusal: refusal ? toRefusal(refusal) : null }
    : null;
};

/** What a session changes for all; null during a backoff, for then the refusal is stored already. */
export const createBackoffChange = (
  shared: SharedProvider,
  end: SessionEnd,
  atMs: number,
): Fields | null => {
  if (isClosed(shared, atMs)) return null;
  const { ms, failures } = getNextBackoff(shared.failures, end);
  if (ms === 0 && failures === shared.failures) return null;
  return {
    failures: failures || undefined,
    ...(ms > 0 && { backoff_until: atMs + ms }),
    ...(end.refusal && { refusal: toStoredReply(end.refusal) }),
  };
};

const toStoredReply = ({ host, ip, result: { ending } }: SessionOutcome): Fields | undefined =>
  ending && !isFault(ending.reply)
    ? toStoredRefusal({ host, ip, stage: ending.stage, reply: ending.reply })
    : undefined;

/** The condition that no process closed the provider since the read. */
export const matchClosing = ({ backoff_until }: SharedProvider): Where => ({
  backoff_until: backoff_until || MISSING,
});

/** And that no process reset its failures. */
export const matchBackoff = (shared: SharedProvider): Where => ({
  ...matchClosing(shared),
  failures: shared.failures || MISSING,
});

export const matchSlot = ({ slots }: SharedProvider, slot: number): Where => ({
  [toSlotField(slot)]: slots.get(slot) ?? MISSING,
});

const MISSING = { missing: true } as const;

/** Longer sessions show more: one with fifty recipients counts for half. */
const PACE_RECIPIENTS = 100;

export const createPaceChange = (
  { pace }: Pick<SharedProvider, "pace">,
  { ms, answered }: SessionWork,
): Fields => {
  if (answered === 0) return {};
  const own = ms / answered;
  const weight = pace === undefined ? 1 : Math.min(0.5, answered / PACE_RECIPIENTS);
  return { pace: Math.round((pace ?? own) * (1 - weight) + own * weight) };
};

/** Part of every write. */
export const createExpiry = (atMs: number): Fields => ({
  expires_at: Math.ceil(atMs / 1000) + RETENTION_SECONDS,
});

export const createWaitMark = (atMs: number): Fields => ({ wanted_until: atMs + WAIT_MARK_MS });

export const hasWaiter = ({ wanted_until }: SharedProvider, atMs: number): boolean =>
  isUnexpired(wanted_until, atMs, WAIT_MARK_MS);

/** One process marks the wait for all, and renews the mark before it expires. */
export const isWaitMarkFresh = (shared: SharedProvider, atMs: number): boolean =>
  hasWaiter(shared, atMs) && shared.wanted_until - atMs > WAIT_MARK_MS / 2;
