import type { World } from "../ports/world.ts";

export type LongPolls = {
  /** The wait ends early when the signal fires. The caller calls `end` once, when its wait has ended. */
  readonly begin: (account: string) => { readonly signal: AbortSignal; readonly end: () => void };
};

/** For runtimes where each request has its own process. */
export const UNLIMITED_POLLS: LongPolls = {
  begin: () => ({ signal: new AbortController().signal, end: () => undefined }),
};

export type LongPollLimits = { readonly perAccount: number; readonly inAll: number };

type Poll = { readonly account: string; readonly controller: AbortController };

/**
 * A wait holds a connection. When an account exceeds its share, its oldest wait ends, whose client has mostly disconnected.
 * When all accounts together exceed the total, a new request does not wait. A stopping process ends all waits at once. No
 * request is refused.
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
 * Calls `read` at each interval until it returns a value, at most until `untilMs`. Undefined when the time is over or the wait
 * was ended.
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
