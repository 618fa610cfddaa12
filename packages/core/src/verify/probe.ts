import type { Tried } from "../mail/smtp/connect.ts";
import { withinHostLimits } from "../mail/smtp/host-limits.ts";
import { NO_QUOTA } from "./daily-limits.ts";
import { adjustShare, type Desk, type Desks, openDesks, placeFor, shareOf } from "./desks.ts";
import { egressWatch } from "./egress-watch.ts";
import { answerOf, type ProbeDoors, type SessionDoors } from "./hold-session.ts";
import { type HeldInPlace, holdInPlace } from "./in-place.ts";
import { outOfPlaces, waitInLine } from "./line.ts";
import { attend, isOutOfPatience, type Operator } from "./operators.ts";
import { ownPlaces } from "./places.ts";
import type { Answer, Question, Waiting } from "./recipient-check.ts";
import { type Requester, SOLE_REQUESTER } from "./requester.ts";
import { type SessionShares, sessionShares } from "./session-shares.ts";
import { openTurns } from "./turns.ts";
import { overDailyLimit } from "./unasked.ts";

/** Asks a mail server about one recipient, in a session that it shares with others for the same server. */
export type Probe = (question: Question) => Promise<Answer>;

export const mailProbe = (outside: ProbeDoors): Probe => {
  const connect = withinHostLimits(outside.connect, outside.sleep);
  const { places = ownPlaces, quota = NO_QUOTA } = outside;
  const doors: SessionDoors = { ...outside, connect, places, quota, egress: egressWatch() };
  const desks = openDesks();
  const { join, serve } = serviceAt(desks, doors);

  return (question) =>
    new Promise((answer) => {
      const { key, hosts } = placeFor(question.hosts, desks.all, doors.random);
      const desk = desks.deskAt(key, hosts[0]);
      const { operator } = desk;
      const { requester = SOLE_REQUESTER } = question;
      const isFirst = !desk.waiting.has(requester);
      const own = { requester, nobody: [], hosts, answer, strain: 0 };
      const waiting = { otherwise: [], ...question, ...own };
      if (operator.refusal && isOutOfPatience(operator))
        answer(answerOf(doors, operator.refusal, waiting));
      else if (isOverLimit(doors, waiting)) answer(overDailyLimit(waiting));
      else join(desk, waiting);
      // Whoever comes in the same moment shares the session.
      if (isFirst) void doors.sleep(0).then(() => serve(desk));
    });
};

/** Starts as many sessions for those who wait at a desk as the server and we can bear, and goes on from there. */
const serviceAt = (desks: Desks, doors: SessionDoors) => {
  const shares = sessionShares(doors.sessionsMax);
  const waiting = waitingAt();
  const settle = settler(desks, shares);

  const giveUp = (operator: Operator, said: (desk: Desk) => Tried): void => {
    for (const desk of [...desks.all.values()].filter((one) => one.operator === operator)) {
      for (const one of waiting.takeAll(desk)) one.answer(answerOf(doors, said(desk), one));
      settle(desk);
    }
  };

  const serve = (desk: Desk): void => {
    while (mayOpen(desk)) {
      const opener = desk.waiting.requesters().find(shares.mayOpen);
      if (!opener) break;
      if (!hasPlace(doors, desk)) return waitForPlace(desk.operator);
      void converse(desk, opener);
    }
    settle(desk);
  };

  const converse = async (desk: Desk, opener: Requester): Promise<void> => {
    const { operator } = desk;
    const batch = withinLimits(doors, waiting.take(desk, opener));
    if (batch.length === 0) return settle(desk);
    count(desk, 1);
    shares.open(opener);
    settle(desk);
    const early = endsEarly(operator, batch);
    const held = await holdInPlace({ ...doors, isToEnd: early.isToEnd }, desk.spot, batch);
    const isShort = shares.close(opener);
    count(desk, -1);
    waiting.putBack(desk, held.unasked);
    if (early.over()) operator.yielding--;
    else adjustShare(desk, batch.length, held.unasked.length);
    desk.full = held.full;
    if (!held.full) heed(operator, held);
    serveOthers(operator, { any: isShort, afresh: !held.full });
    settle(desk);
  };

  const heed = (operator: Operator, held: HeldInPlace): void => {
    operator.line.since = null;
    const isOver = attend(operator, held, held.told, doors.sleep, () => goOn(operator));
    const { refusal } = operator;
    if (isOver && refusal) giveUp(operator, () => refusal);
  };

  const waitForPlace = (operator: Operator): void => {
    if (!waitInLine(operator.line, doors, () => goOn(operator)))
      giveUp(operator, ({ spot }) => outOfPlaces(spot));
  };

  /** Whoever waits for the same operator, or for any session at all, gets the one that is free now. */
  const serveOthers = (operator: Operator, { any = false, afresh = false }): void => {
    if (afresh) lookAgain(desks, operator);
    const isWanted = (desk: Desk) => any || desk.operator === operator;
    const without = openInTurns({ doors, waiting, shares }, isWanted, converse);
    for (const one of without) waitForPlace(one);
  };

  const goOn = (operator: Operator): void => {
    serveOthers(operator, { afresh: true });
    desks.forget(operator);
  };

  return { join: waiting.join, serve };
};

const lookAgain = ({ all }: Desks, operator: Operator): void => {
  for (const desk of all.values()) if (desk.operator === operator) desk.full = false;
};

type Service = {
  readonly doors: SessionDoors;
  readonly waiting: ReturnType<typeof waitingAt>;
  readonly shares: SessionShares;
};

/** Opens sessions in the order of turns. It comes to the operators at which no more than a place is missing. */
const openInTurns = (
  { doors, waiting, shares }: Service,
  isWanted: (desk: Desk) => boolean,
  open: (desk: Desk, opener: Requester) => Promise<void>,
): ReadonlySet<Operator> => {
  const without = new Set<Operator>();
  const isReady = (desk: Desk): boolean => {
    if (!isWanted(desk) || !mayOpen(desk)) return false;
    const has = hasPlace(doors, desk);
    if (!has) without.add(desk.operator);
    return has;
  };
  for (;;) {
    const next = waiting.next(shares.mayOpen, isReady);
    if (!next) return without;
    void open(next.queue, next.requester);
  }
};

/** The rows at each host queue, with the turns that accounts take among the queues. */
const waitingAt = () => {
  const turns = openTurns<Desk>();
  const leave = (desk: Desk, taken: readonly Waiting[]): readonly Waiting[] => {
    for (const { requester } of taken)
      if (!desk.waiting.has(requester)) turns.remove(requester, desk);
    return taken;
  };
  return {
    next: turns.next,
    join: (desk: Desk, one: Waiting): void => {
      desk.waiting.push(one);
      turns.add(one.requester, desk);
    },
    take: (desk: Desk, opener: Requester): readonly Waiting[] => {
      turns.putLast(opener, desk);
      return leave(desk, desk.waiting.take(shareOf(desk, opener), opener));
    },
    takeAll: (desk: Desk): readonly Waiting[] => leave(desk, desk.waiting.takeAll()),
    putBack: (desk: Desk, unasked: readonly Waiting[]): void => {
      desk.waiting.putBack(unasked);
      for (const { requester } of unasked) turns.add(requester, desk);
    },
  };
};

const isOverLimit = ({ quota }: SessionDoors, { requester, domain, hosts }: Waiting): boolean =>
  quota.isReached(requester.account, domain, hosts[0]);

/** A limit may have been reached while they waited: those are answered at once. */
const withinLimits = (doors: SessionDoors, batch: readonly Waiting[]): readonly Waiting[] => {
  for (const one of batch) if (isOverLimit(doors, one)) one.answer(overDailyLimit(one));
  return batch.filter((one) => !isOverLimit(doors, one));
};

const count = (desk: Desk, by: number): void => {
  desk.sessions += by;
  desk.host.sessions += by;
  desk.operator.sessions += by;
};

const mayOpen = ({ operator, limits, host }: Desk): boolean =>
  host.sessions < limits.connections &&
  operator.sessions < operator.connections &&
  !operator.resting;

const hasPlace = ({ places }: SessionDoors, { spot, full }: Desk): boolean =>
  !full && places.mayHave(spot);

/**
 * After a host queue was served: it is closed when it is empty. Where a caller waits for a connection, a session of a
 * list is to end early for him; a caller who has used up his account's share of the sessions gets none that way.
 */
const settler =
  (desks: Desks, shares: SessionShares) =>
  (desk: Desk): void => {
    const { operator, key, waiting } = desk;
    const isBusy = !operator.resting && !mayOpen(desk);
    const isCaller = (one: Requester) => one.priority === "caller" && shares.mayOpen(one);
    if (isBusy && waiting.requesters().some(isCaller)) operator.callersAt.add(key);
    else operator.callersAt.delete(key);
    if (waiting.size() === 0 && desk.sessions === 0) desks.close(desk);
  };

/** To open a session costs a server as much as this many recipients do. */
const RECIPIENTS_MIN = 5;

/** One session ends early for each queue where callers wait, and none before its own callers are answered. */
const endsEarly = (operator: Operator, batch: readonly Waiting[]) => {
  const callers = batch.filter(({ requester }) => requester.priority === "caller").length;
  let isEnding = false;
  const isToEnd = (asked: number): boolean => {
    if (asked < callers + RECIPIENTS_MIN || operator.callersAt.size <= operator.yielding)
      return false;
    operator.yielding++;
    isEnding = true;
    return true;
  };
  return { isToEnd, over: () => isEnding };
};
