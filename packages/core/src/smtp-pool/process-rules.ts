import type { StandingRefusal } from "./circuit-breaker/circuit-breaker.ts";
import type { Requester } from "./fairness.ts";
import type { HostQueue } from "./host-queues.ts";

// The rules by which this process decides whether a recipient gets a session. `decide` uses these rules first, and the rules
// about the provider (slots/decide.ts) after it has read the provider's state.

export type Rule<Of, Answer> = {
  readonly when: string;
  readonly holds: (of: Of) => boolean;
  readonly decision: string;
  readonly answer: (of: Of) => Answer;
};

/** The knowledge of this process; a part is absent when it does not matter. */
export type Process = {
  /** A recipient that comes to a queue, or that a session is about to take. */
  readonly recipient?: {
    readonly isOverDailyLimit: boolean;
    /** The refusal that every exit would get from the circuit. */
    readonly refusal: StandingRefusal | null;
    readonly isTurnedAway: boolean;
    /** True when the queue's exit is refused for this recipient or cannot be reached. */
    readonly isExitClosed: boolean;
  };
  /** The sessions of the account whose turn it is, and those that the process may still open. */
  readonly account?: { readonly open: number; readonly free: number };
  /** The host queue whose turn it is, for this requester. */
  readonly queue?: QueueView;
};

type QueueView = Pick<
  HostQueue,
  "provider" | "host" | "slotKey" | "sessions" | "isFull" | "hasJustOpened" | "gathersFor"
> & {
  readonly opener: Requester;
  /** True when the list is long and the thread has no time for its rows. */
  readonly isHeld: boolean;
  readonly recipients: number;
  readonly batchSize: number;
  /** False when this process holds, or leaves to others, every slot of the host. */
  readonly mayAcquire: boolean;
};

export type ProcessDecision =
  /** The recipient gets a result now. */
  | { readonly kind: "answer"; readonly why: "daily_limit" }
  | { readonly kind: "answer"; readonly why: "backoff" }
  | { readonly kind: "answer"; readonly why: "circuit"; readonly refusal: StandingRefusal }
  | { readonly kind: "leave" }
  /** The recipient stays in its queue until a session ends. */
  | { readonly kind: "join" }
  /** The recipient stays in its queue for a moment, since others may arrive. */
  | { readonly kind: "gather" }
  /** The provider's queues try again after a pause. */
  | { readonly kind: "pause" };

/**
 * An account may open another session while it holds fewer than four times the number of free sessions. So one account alone
 * gets four fifths (a list 504, enough for one process to be fast), two get four ninths each, and some sessions are always
 * free for the next account, whichever servers the other accounts wait for.
 */
const OPEN_TO_FREE = 4;

const FOR_RECIPIENTS: readonly Rule<NonNullable<Process["recipient"]>, ProcessDecision>[] = [
  {
    when: "a daily limit is reached",
    holds: ({ isOverDailyLimit }) => isOverDailyLimit,
    decision: "`answer` with it",
    answer: () => ({ kind: "answer", why: "daily_limit" }),
  },
  {
    when: "the circuit of every exit is open",
    holds: ({ refusal }) => refusal !== null,
    decision: "`answer` with the refusal",
    answer: ({ refusal }) =>
      refusal ? { kind: "answer", why: "circuit", refusal } : { kind: "join" },
  },
  {
    when: "the provider backs off after a refusal",
    holds: ({ isTurnedAway }) => isTurnedAway,
    decision: "`answer`: it comes back later",
    answer: () => ({ kind: "answer", why: "backoff" }),
  },
  {
    when: "its exit is refused or down",
    holds: ({ isExitClosed }) => isExitClosed,
    decision: "`leave`, by another",
    answer: () => ({ kind: "leave" }),
  },
];

const FOR_ACCOUNTS: readonly Rule<NonNullable<Process["account"]>, ProcessDecision>[] = [
  {
    when: "its account holds four times the sessions that are free",
    holds: ({ open, free }) => open >= OPEN_TO_FREE * free,
    decision: "`join`, until any session ends",
    answer: () => ({ kind: "join" }),
  },
];

const FOR_QUEUES: readonly Rule<QueueView, ProcessDecision>[] = [
  {
    when: "the host or its provider has all its sessions",
    holds: ({ provider, host, slotKey }) =>
      provider.isBackingOff || hasAllSessions({ provider, host, slotKey }),
    decision: "`join`, until one ends",
    answer: () => ({ kind: "join" }),
  },
  {
    when: "a session began 30 ms ago, a long list's ended half a second ago or keeps the thread busy, and another would not be full",
    holds: ({ recipients, batchSize, isHeld, opener, hasJustOpened, sessions, gathersFor }) => {
      // A single recipient never waits for others, because a queue without an open session does not wait.
      const hasBegunToShare = hasJustOpened && sessions > 0;
      const isGatheringRows = gathersFor === opener.account && opener.priority === "list";
      return recipients < batchSize && (hasBegunToShare || isGatheringRows || isHeld);
    },
    decision: "`gather`",
    answer: () => ({ kind: "gather" }),
  },
  {
    when: "this process holds the slots, or found none",
    holds: ({ isFull, mayAcquire }) => isFull || !mayAcquire,
    decision: "`pause`",
    answer: () => ({ kind: "pause" }),
  },
];

export const PROCESS_RULES = [...FOR_RECIPIENTS, ...FOR_ACCOUNTS, ...FOR_QUEUES] as const;

/** Undefined when nothing in this process keeps the recipient from a session. */
export const decideByProcess = ({
  recipient,
  account,
  queue,
}: Process): ProcessDecision | undefined =>
  (recipient && findAnswer(FOR_RECIPIENTS, recipient)) ??
  (account && findAnswer(FOR_ACCOUNTS, account)) ??
  (queue && findAnswer(FOR_QUEUES, queue));

/** Returns the answer of the first rule whose condition is true. */
export const findAnswer = <Of, Answer>(
  rules: readonly Rule<Of, Answer>[],
  of: Of,
): Answer | undefined => rules.find(({ holds }) => holds(of))?.answer(of);

/** After a backoff one session tests whether the provider accepts sessions again. */
export const hasAllSessions = ({
  provider,
  host,
  slotKey,
}: Pick<HostQueue, "provider" | "host" | "slotKey">): boolean =>
  host.sessions >= slotKey.slots.length ||
  provider.sessions >= (provider.failures > 0 ? 1 : provider.connections);
