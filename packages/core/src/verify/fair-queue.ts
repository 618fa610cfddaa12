import { PRIORITIES, type Priority, type Requester } from "./requester.ts";

/**
 * The part of a batch that callers get while lists wait, too. Without the rest, an account that sends one call after
 * the other would stop all lists at a slow mail host.
 */
const CALLERS_SHARE = 0.75;

type Entry = { readonly requester: Requester };

export type FairQueue<Kind extends Entry> = ReturnType<typeof fairQueue<Kind>>;

/** Entries of many accounts: callers before lists, and within each the accounts take turns, one entry at a time. */
export const fairQueue = <Kind extends Entry>() => {
  const of = { caller: accountsInTurns<Kind>(), list: accountsInTurns<Kind>() };

  /** At most so many. The first is of the requester that opens the session. */
  const take = (count: number, opener: Requester): Kind[] => {
    const taken = of[opener.priority].takeOf(opener.account);
    const callersMost = of.list.size() > 0 ? Math.ceil(count * CALLERS_SHARE) : count;
    taken.push(...of.caller.takeInTurns(callersMost - taken.length));
    taken.push(...of.list.takeInTurns(count - taken.length));
    taken.push(...of.caller.takeInTurns(count - taken.length));
    return taken;
  };

  /** Those who wait, in the order of their turns. */
  function* requesters(): Generator<Requester> {
    for (const priority of PRIORITIES)
      for (const account of of[priority].accounts()) yield { account, priority };
  }

  return {
    size: () => of.caller.size() + of.list.size(),
    has: ({ account, priority }: Requester) => of[priority].has(account),
    push: (entry: Kind): void => of[entry.requester.priority].push(entry),
    /** Entries that were taken and not served are the next of their accounts. */
    putBack: (entries: readonly Kind[]): void => {
      for (const entry of entries.toReversed()) of[entry.requester.priority].putFirst(entry);
    },
    take,
    takeAll: () => PRIORITIES.flatMap((priority: Priority) => of[priority].takeInTurns(Infinity)),
    requesters,
  };
};

const accountsInTurns = <Kind extends Entry>() => {
  const lanes = new Map<string, Lane<Kind>>();
  let size = 0;

  const laneOf = ({ requester: { account } }: Kind): Lane<Kind> => {
    const lane = lanes.get(account) ?? newLane<Kind>();
    lanes.set(account, lane);
    size++;
    return lane;
  };

  const takeOf = (account: string): Kind[] => {
    const lane = lanes.get(account);
    const entry = lane && shift(lane);
    if (!lane || !entry) return [];
    // The account's next turn comes after those of all others.
    lanes.delete(account);
    if (lane.head < lane.entries.length) lanes.set(account, lane);
    size--;
    return [entry];
  };

  const takeInTurns = (count: number): Kind[] => {
    const taken: Kind[] = [];
    while (taken.length < count) {
      const [account] = lanes.keys();
      if (account === undefined) break;
      taken.push(...takeOf(account));
    }
    return taken;
  };

  return {
    size: () => size,
    has: (account: string) => lanes.has(account),
    accounts: () => lanes.keys(),
    push: (entry: Kind): void => void laneOf(entry).entries.push(entry),
    putFirst: (entry: Kind): void => putFirst(laneOf(entry), entry),
    takeOf,
    takeInTurns,
  };
};

/** The entries before `head` are taken: to shift a long array moves all of it. */
type Lane<Kind> = { head: number; readonly entries: (Kind | undefined)[] };

const newLane = <Kind>(): Lane<Kind> => ({ head: 0, entries: [] });

const TAKEN_MAX = 1_024;

const shift = <Kind>(lane: Lane<Kind>): Kind | undefined => {
  const entry = lane.entries[lane.head];
  lane.entries[lane.head++] = undefined;
  if (lane.head >= TAKEN_MAX && lane.head * 2 > lane.entries.length) {
    lane.entries.splice(0, lane.head);
    lane.head = 0;
  }
  return entry;
};

const putFirst = <Kind>(lane: Lane<Kind>, entry: Kind): void => {
  if (lane.head > 0) lane.entries[--lane.head] = entry;
  else lane.entries.unshift(entry);
};
