import * as v from "valibot";

/** A caller waits for the response; rows of a list wait for their job. */
export type Priority = "caller" | "list";

/** The account, job and priority of a probe. Mail servers see none of these. */
export type Requester = {
  readonly account: string;
  readonly priority: Priority;
  /** The job: its rows share the refusals that prove acceptances. Absent: the recipient belongs to no job. */
  readonly job?: string | undefined;
};

/** The priorities, in the order of service. */
const PRIORITIES = ["caller", "list"] as const satisfies readonly Priority[];

/** The order of processes in a wait queue for slots. `position` counts recipients; of equal positions the earlier draw is first. */
export const Ticket = v.object({ queue: v.string(), position: v.number(), draw: v.number() });
export type Ticket = Readonly<v.InferOutput<typeof Ticket>>;
export type Order = Pick<Ticket, "position" | "draw">;

export const compareTickets = (a: Order, b: Order): number =>
  a.position - b.position || a.draw - b.draw;

/** The requester on the command line, which serves one person. */
export const SOLE_REQUESTER: Requester = { account: "", priority: "list" };

/**
 * Each step of a list waits for it while the process has callers to serve, so that they share the processor time:
 * a row before it is looked up and before it is judged, a session before it connects and after each reply, a page of
 * results, a chunk of an export. Undefined: the step begins at once.
 */
export type YieldToCallers = (requester: Requester | undefined) => Promise<void> | undefined;

/**
 * The share of a batch for callers while lists also wait. Without it, an account that sends one call after the
 * other would stop all lists at a slow mail host.
 */
const CALLERS_SHARE = 0.75;

type Entry = { readonly requester: Requester };

export type FairQueue<Kind extends Entry> = ReturnType<typeof createFairQueue<Kind>>;

/** Queues of many accounts: callers precede lists, and within each priority the accounts take turns, one entry at a time. */
export const createFairQueue = <Kind extends Entry>() => {
  const byPriority = { caller: createAccountRotation<Kind>(), list: createAccountRotation<Kind>() };

  /** Takes up to `count` entries. The first entry belongs to the requester that opens the session. */
  const take = (count: number, opener: Requester): Kind[] => {
    const entries = byPriority[opener.priority].takeOf(opener.account);
    const callersMost = byPriority.list.size() > 0 ? Math.ceil(count * CALLERS_SHARE) : count;
    entries.push(...byPriority.caller.takeInTurns(callersMost - entries.length));
    entries.push(...byPriority.list.takeInTurns(count - entries.length));
    entries.push(...byPriority.caller.takeInTurns(count - entries.length));
    return entries;
  };

  /** The waiting requesters, in the order of their turns. */
  function* requesters(): Generator<Requester> {
    for (const priority of PRIORITIES)
      for (const account of byPriority[priority].accounts()) yield { account, priority };
  }

  return {
    size: () => byPriority.caller.size() + byPriority.list.size(),
    has: ({ account, priority }: Requester) => byPriority[priority].has(account),
    push: (entry: Kind): void => byPriority[entry.requester.priority].push(entry),
    /** Returns the entries that no session served to the front of their accounts' queues. */
    putBack: (entries: readonly Kind[]): void => {
      for (const entry of entries.toReversed())
        byPriority[entry.requester.priority].putFirst(entry);
    },
    take,
    /** False when the queue lacks the entry. */
    remove: (entry: Kind): boolean => byPriority[entry.requester.priority].remove(entry),
    takeAll: () =>
      PRIORITIES.flatMap((priority: Priority) => byPriority[priority].takeInTurns(Infinity)),
    requesters,
  };
};

export const createAccountRotation = <Kind extends Entry>() => {
  const queues = new Map<string, AccountQueue<Kind>>();
  let size = 0;

  const getQueue = ({ requester: { account } }: Kind): AccountQueue<Kind> => {
    const queue = queues.get(account) ?? { head: 0, entries: [] };
    queues.set(account, queue);
    size++;
    return queue;
  };

  const takeOf = (account: string): Kind[] => {
    const queue = queues.get(account);
    const entry = queue && shift(queue);
    if (!queue || !entry) return [];
    // Moves the account's next turn behind the turns of all others.
    queues.delete(account);
    if (queue.head < queue.entries.length) queues.set(account, queue);
    size--;
    return [entry];
  };

  const takeInTurns = (count: number): Kind[] => {
    const taken: Kind[] = [];
    while (taken.length < count) {
      const [account] = queues.keys();
      if (account === undefined) break;
      taken.push(...takeOf(account));
    }
    return taken;
  };

  const remove = (entry: Kind): boolean => {
    const { account } = entry.requester;
    const queue = queues.get(account);
    const at = queue?.entries.indexOf(entry, queue.head) ?? -1;
    if (!queue || at === -1) return false;
    queue.entries.splice(at, 1);
    if (queue.head === queue.entries.length) queues.delete(account);
    size--;
    return true;
  };

  return {
    size: () => size,
    has: (account: string) => queues.has(account),
    accounts: () => queues.keys(),
    push: (entry: Kind): void => void getQueue(entry).entries.push(entry),
    putFirst: (entry: Kind): void => putFirst(getQueue(entry), entry),
    takeOf,
    takeInTurns,
    remove,
  };
};

/** The entries before `head` are served; `shift` on a long array would move all its entries. */
type AccountQueue<Kind> = { head: number; readonly entries: (Kind | undefined)[] };

const TAKEN_MAX = 1_024;

const shift = <Kind>(queue: AccountQueue<Kind>): Kind | undefined => {
  const entry = queue.entries[queue.head];
  queue.entries[queue.head++] = undefined;
  if (queue.head >= TAKEN_MAX && queue.head * 2 > queue.entries.length) {
    queue.entries.splice(0, queue.head);
    queue.head = 0;
  }
  return entry;
};

const putFirst = <Kind>(queue: AccountQueue<Kind>, entry: Kind): void => {
  if (queue.head > 0) queue.entries[--queue.head] = entry;
  else queue.entries.unshift(entry);
};

/**
 * The host queues where each account waits, in the order of service: callers before lists, then the account whose last turn
 * was longest ago, then the queue of that account that was served longest ago.
 */
export const createTurns = <HostQueue>() => {
  const waiting = {
    caller: new Map<string, Set<HostQueue>>(),
    list: new Map<string, Set<HostQueue>>(),
  };

  const add = ({ account, priority }: Requester, queue: HostQueue): void => {
    const queues = waiting[priority].get(account);
    if (queues) queues.add(queue);
    else waiting[priority].set(account, new Set([queue]));
  };

  const remove = ({ account, priority }: Requester, queue: HostQueue): void => {
    const queues = waiting[priority].get(account);
    queues?.delete(queue);
    if (queues?.size === 0) waiting[priority].delete(account);
  };

  /** After a turn the account comes after all others, and the queue after all others of the account. */
  const putLast = ({ account, priority }: Requester, queue: HostQueue): void => {
    const queues = waiting[priority].get(account);
    if (!queues) return;
    if (queues.delete(queue)) queues.add(queue);
    waiting[priority].delete(account);
    waiting[priority].set(account, queues);
  };

  /** Lists each account that may open a session with its queues in their order, or with the queue `only`. */
  function* list(
    mayOpen: (requester: Requester) => boolean,
    only?: HostQueue,
  ): Generator<{ readonly queue: HostQueue; readonly opener: Requester }> {
    for (const priority of PRIORITIES)
      for (const [account, queues] of waiting[priority]) {
        const opener = { account, priority };
        if ((only && !queues.has(only)) || !mayOpen(opener)) continue;
        for (const queue of only ? [only] : queues) yield { queue, opener };
      }
  }

  return { add, remove, putLast, list };
};

/** Concurrent sessions of one process, to all servers together, if the file descriptors suffice. Each is a socket. */
export const SESSIONS_MAX = 700;
/** The share of sessions that lists leave to callers: a list holds sessions for hours, a caller for a moment. */
const CALLERS_RESERVE = 0.1;
/** A list with this many sessions may wait at one host to gather rows. */
const MANY = 20;

/** How the sessions of this process are shared among accounts. */
export const createSessionShares = (sessionsMax = SESSIONS_MAX) => {
  const openSessions = new Map<string, number>();
  let sessions = 0;
  let isShort = false;

  return {
    /** Returns the account's sessions and the sessions that are free for this priority. */
    count: ({ account, priority }: Requester) => {
      const most = sessionsMax * (priority === "caller" ? 1 : 1 - CALLERS_RESERVE);
      return { open: openSessions.get(account) ?? 0, free: most - sessions };
    },
    /** Records that a requester waits for the end of any session. */
    markShort: (): void => {
      isShort = true;
    },
    hasMany: ({ account }: Requester): boolean => (openSessions.get(account) ?? 0) >= MANY,
    open: ({ account }: Requester): void => {
      openSessions.set(account, (openSessions.get(account) ?? 0) + 1);
      sessions++;
    },
    /** Returns true when a requester was refused since the last end of a session: it may get one now. */
    close: ({ account }: Requester): boolean => {
      const left = (openSessions.get(account) ?? 0) - 1;
      if (left > 0) openSessions.set(account, left);
      else openSessions.delete(account);
      sessions--;
      const wasShort = isShort;
      isShort = false;
      return wasShort;
    },
  };
};

/** How many rows of long lists begin before the pool asks again whether the thread has time. */
const ROWS_AT_ONCE = 200;
/** After this many ticks a session begins even on a busy thread; otherwise endless requests would stop all lists. */
const TICKS_MAX = 5;

/** Counts the rows of long lists that the thread has time for. */
export const createRowBudget = (hasTime = () => true) => {
  let rows = 0;
  let ticks = 0;
  return {
    /** Rows wait for the next tick. */
    isWaiting: false,
    tick: (): void => {
      if (++ticks % TICKS_MAX === 0) rows = Math.max(rows, 1);
    },
    isSpent: (): boolean => {
      if (rows <= 0 && hasTime()) rows = ROWS_AT_ONCE;
      return rows <= 0;
    },
    spend: (count: number): void => {
      rows -= count;
    },
  };
};
