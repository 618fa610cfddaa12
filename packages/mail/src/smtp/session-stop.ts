import { asksForBackoff, concernsOneDomain, findRefusalOfUs } from "./classify.ts";
import type { Reply, Stage } from "./reply.ts";
import type { ClosedBy, SessionResult } from "./session.ts";
import { isFault, type ReplyOrFault } from "./wire.ts";

export type SessionStop = Pick<SessionResult, "closedBy" | "ending">;

export const LIMIT: SessionStop = { closedBy: "limit", ending: null };

export const createStop = (stage: Stage, reply: ReplyOrFault): SessionStop => ({
  closedBy: toClosedBy(reply),
  ending: { stage, reply },
});

const toClosedBy = (reply: ReplyOrFault): ClosedBy => {
  if (isFault(reply)) return reply === "deadline" ? "deadline" : "lost";
  if (isTooMany(reply)) return "full";
  return reply.code === 421 ? "421" : "refused";
};

/** Tells whether the host refused us for now, for every recipient: another session may be accepted. */
export const isThrottled = ({ ending }: Pick<SessionStop, "ending">, mxHost: string): boolean =>
  ending !== null &&
  ending.stage !== "connect" &&
  !isFault(ending.reply) &&
  findRefusalOfUs(ending.reply, { stage: ending.stage, mxHost }) === "throttle";

/** Returns the reason to end the session. Most replies to RCPT are about the recipient, and the session continues. */
export const findStop = (reply: ReplyOrFault, mxHost: string): SessionStop | null => {
  if (isFault(reply)) return createStop("rcpt", reply);
  if (reply.code === 421 && concernsOneDomain(reply, { stage: "rcpt", mxHost }))
    return { closedBy: "domain", ending: { stage: "rcpt", reply } };
  if (reply.code === 421) return createStop("rcpt", reply);
  return asksForBackoff(reply, { stage: "rcpt", mxHost })
    ? { closedBy: "backoff", ending: { stage: "rcpt", reply } }
    : null;
};

/** The server refuses the recipient because of those before it, and may accept it first in a new transaction. */
export const asksForNewTransaction = (reply: ReplyOrFault): reply is Reply =>
  !isFault(reply) && (isTooMany(reply) || (reply.code >= 400 && isMixed(reply)));

/** RFC 5321 §4.5.3.1.10: 452, or 552 from older servers. */
export const isTooMany = (reply: ReplyOrFault): boolean => {
  if (isFault(reply)) return false;
  const { code, enhanced, text } = reply;
  return enhanced === null
    ? (code === 452 || code === 552) && /too many (?:recipients|rcpts?)/i.test(text)
    : enhanced.endsWith(".5.3");
};

/**
 * Google: "Multiple destination domains per transaction is unsupported", and a policy that needs "a separate transaction". Microsoft:
 * "Recipients belong to multiple regions", under 4.4.4 too.
 */
export const isMixed = ({ text }: Reply): boolean =>
  /multiple\s(?:destination\s)?(?:domains|regions)|separate\stransaction/i.test(text);
