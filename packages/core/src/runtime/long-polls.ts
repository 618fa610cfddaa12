import type { World } from "../ports/world.ts";

/** Requests that wait until something happens. */
export type LongPolls = {
  /** The wait ends early when the signal fires. `end` is called once, when it is over. */
  readonly begin: (account: string) => { readonly signal: AbortSignal; readonly end: () => void };
};

/** Where each request has its own process. */
export const UNLIMITED_POLLS: LongPolls = {
  begin: () => ({ signal: new AbortController().signal, end: () => undefined }),
};

export type LongPollLimits = { readonly perAccount: number; readonly inAll: number };

type Poll = { readonly account: string; readonly controller: AbortController };

/**
 * A wait holds a connection. An account above its share loses its oldest wait, which is mostly that of a client that is
 * gone; when there are too many of all accounts, a new one does not wait. Neither is refused. A process that stops ends all
 * of them, and those that begin afterwards.
 */
export const createLongPolls = (
  { perAccount, inAll }: LongPollLimits,
  stopping: AbortSignal,
): LongPolls => {
  const polls = new Set<Poll>();
  const endPoll = (poll: Poll): void => {
    polls.delete(poll);
    poll.controller.abort();
  };
  const begin: LongPolls["begin"] = (account) => {
    const poll = { account, controller: new AbortController() };
    const [oldest, ...others] = [...polls].filter((one) => one.account === account);
    if (oldest && others.length + 1 >= perAccount) endPoll(oldest);
    if (stopping.aborted || polls.size >= inAll) poll.controller.abort();
    else polls.add(poll);
    return { signal: poll.controller.signal, end: () => void polls.delete(poll) };
  };
  stopping.addEventListener("abort", () => polls.forEach(endPoll), { once: true });
  return { begin };
};

type PollingWorld = Pick<World, "now" | "sleep"> & { readonly longPolls: LongPolls };

/**
 * Reads at each interval until there is what the request waits for, at most until `untilMs`. Undefined: the time is over, or the
 * wait was ended.
 */
export const poll = async <T>(
  world: PollingWorld,
  { account, untilMs, everyMs }: PollTimes,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> => {
  const own = world.longPolls.begin(account);
  try {
    while (world.now().getTime() < untilMs) {
      await world.sleep(everyMs, own.signal);
      if (own.signal.aborted) return undefined;
      const found = await read();
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    own.end();
  }
};

type PollTimes = { readonly account: string; readonly untilMs: number; readonly everyMs: number };
