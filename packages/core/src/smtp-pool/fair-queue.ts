import { PRIORITIES, type Priority, type Requester } from "./requester.ts";

/**
 * The share of a batch that callers get while lists wait, too. Without it, an account that sends one call after the
 * other would stop all lists at a slow mail host.
 */
const CALLERS_SHARE = 0.75;

type Entry = { readonly requester: Requester };

export type FairQueue<Kind extends Entry> = ReturnType<typeof createFairQueue<Kind>>;

/** Entries of many accounts: callers before lists, and within each the accounts take turns, one entry at a time. */
export const createFairQueue = <Kind extends Entry>() => {
  const byPriority = { caller: createAccountRotation<Kind>(), list: createAccountRotation<Kind>() };

  /** Takes up to `count` entries. The first is of the requester that opens the session. */
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
    /** Entries that a session took and did not serve are the next of their accounts. */
    putBack: (entries: readonly Kind[]): void => {
      for (const entry of entries.toReversed())
        byPriority[entry.requester.priority].putFirst(entry);
    },
    take,
    /** False: it is not in the queue. */
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
    const queue = queues.get(account) ?? createAccountQueue<Kind>();
    queues.set(account, queue);
    size++;
    return queue;
  };

  const takeOf = (account: string): Kind[] => {
    const queue = queues.get(account);
    const entry = queue && shift(queue);
    if (!queue || !entry) return [];
    // The account's next turn comes after those of all others.
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

/** The entries before `head` are taken: to shift a long array moves all of it. */
type AccountQueue<Kind> = { head: number; readonly entries: (Kind | undefined)[] };

const createAccountQueue = <Kind>(): AccountQueue<Kind> => ({ head: 0, entries: [] });

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
