import type { Requester } from "../requester.ts";

/** Concurrent sessions of one process, to all servers together, if the file descriptors suffice. Each is a socket. */
export const SESSIONS_MAX = 700;
/** Lists leave this share to callers: a list holds sessions for hours, a caller has one for a moment. */
const CALLERS_RESERVE = 0.1;
/**
 * An account may open another session while it holds fewer than four times as many as are free. So one account alone
 * gets four fifths (a list 504, all that one process needs to be fast), two get four ninths each, and some are always
 * free for the next account, whichever servers the others wait for.
 */
const OPEN_TO_FREE = 4;

/** A list with so many sessions does not hurry at one host. */
const MANY = 20;

export type SessionShares = ReturnType<typeof createSessionShares>;

/** How the sessions of this process are shared among accounts. */
export const createSessionShares = (sessionsMax = SESSIONS_MAX) => {
  const openSessions = new Map<string, number>();
  let sessions = 0;
  let isShort = false;

  const isAllowed = ({ account, priority }: Requester): boolean => {
    const most = sessionsMax * (priority === "caller" ? 1 : 1 - CALLERS_RESERVE);
    return (openSessions.get(account) ?? 0) < OPEN_TO_FREE * (most - sessions);
  };

  return {
    /** Whether the account may open another session now. */
    mayOpen: (requester: Requester): boolean => {
      const allowed = isAllowed(requester);
      if (!allowed) isShort = true;
      return allowed;
    },
    hasMany: ({ account }: Requester): boolean => (openSessions.get(account) ?? 0) >= MANY,
    open: ({ account }: Requester): void => {
      openSessions.set(account, (openSessions.get(account) ?? 0) + 1);
      sessions++;
    },
    /** True: a requester was refused since the last session ended, and may get a session now. */
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
