import type { Tried } from "../mail/smtp/connect.ts";
import { withinHostLimits } from "../mail/smtp/host-limits.ts";
import { adjustShare, type Desk, type Desks, openDesks, placeFor, shareOf } from "./desks.ts";
import { egressWatch } from "./egress-watch.ts";
import {
  type Answer,
  answerOf,
  type ProbeDoors,
  type Question,
  type SessionDoors,
} from "./hold-session.ts";
import { type HeldInPlace, holdInPlace } from "./in-place.ts";
import { outOfPlaces, waitInLine } from "./line.ts";
import { attend, isOutOfPatience, type Operator } from "./operators.ts";
import { ownPlaces } from "./places.ts";

/** Asks a mail server about one recipient, in a session that it shares with others for the same server. */
export type Probe = (question: Question) => Promise<Answer>;

/** Sessions of one process at once, to all servers together. */
const SESSIONS_MAX = 500;

export const mailProbe = (outside: ProbeDoors): Probe => {
  const connect = withinHostLimits(outside.connect, outside.sleep);
  const { places = ownPlaces, sessionsMax = SESSIONS_MAX } = outside;
  const doors = { ...outside, sessionsMax, connect, places, egress: egressWatch() };
  const desks = openDesks();
  const serve = serviceAt(desks, doors);

  return (question) =>
    new Promise((answer) => {
      const { key, hosts } = placeFor(question.hosts, desks.all, doors.random);
      const desk = desks.deskAt(key, hosts[0]);
      const { operator } = desk;
      const waiting = { otherwise: [], ...question, nobody: [], hosts, answer, strain: 0 };
      if (operator.refusal && isOutOfPatience(operator))
        answer(answerOf(doors, operator.refusal, waiting));
      else desk.waiting.push(waiting);
      // Whoever comes in the same moment shares the session.
      if (desk.waiting.length <= 1) void doors.sleep(0).then(() => serve(desk));
    });
};

type Doors = SessionDoors & { readonly sessionsMax: number };

/** Starts as many sessions for those who wait at a desk as the server and we can bear, and goes on from there. */
const serviceAt = (desks: Desks, doors: Doors): ((desk: Desk) => void) => {
  let sessions = 0;

  const count = (desk: Desk, by: number): void => {
    desk.sessions += by;
    desk.operator.sessions += by;
    sessions += by;
  };

  const mayOpen = ({ operator, limits, sessions: here }: Desk): boolean =>
    sessions < doors.sessionsMax &&
    here < limits.connections &&
    operator.sessions < operator.connections &&
    !operator.resting;

  const hasPlace = ({ spot, full }: Desk): boolean => !full && doors.places.mayHave(spot);

  const serve = (desk: Desk): void => {
    while (desk.waiting.length > 0 && mayOpen(desk)) {
      if (!hasPlace(desk)) return waitForPlace(desk.operator);
      void converse(desk);
    }
    if (desk.waiting.length === 0 && desk.sessions === 0) desks.close(desk);
  };

  const converse = async (desk: Desk): Promise<void> => {
    const { operator } = desk;
    const batch = desk.waiting.splice(0, shareOf(desk));
    count(desk, 1);
    const held = await holdInPlace(doors, desk.spot, batch);
    const wasAtMost = sessions >= doors.sessionsMax;
    count(desk, -1);
    desk.waiting.unshift(...held.unasked);
    adjustShare(desk, batch.length, held.unasked.length);
    desk.full = held.full;
    if (!held.full) heed(operator, held);
    // Behind the others, or they would wait until nobody comes to this one any more.
    desks.putLast(desk);
    serveOthers(operator, { any: wasAtMost, afresh: !held.full });
    serve(desk);
  };

  const heed = (operator: Operator, held: HeldInPlace): void => {
    operator.line.since = null;
    const isOver = attend(operator, held, held.told, doors.sleep, () => goOn(operator));
    const { refusal } = operator;
    if (isOver && refusal) giveUp(desks, doors, operator, () => refusal);
  };

  const waitForPlace = (operator: Operator): void => {
    if (!waitInLine(operator.line, doors, () => goOn(operator)))
      giveUp(desks, doors, operator, ({ spot }) => outOfPlaces(spot));
  };

  /** Whoever waits for the same operator, or for any session at all, gets the one that is free now. */
  const serveOthers = (operator: Operator, { any = false, afresh = false }): void => {
    for (const desk of desks.all.values()) {
      const isSame = desk.operator === operator;
      if (isSame && afresh) desk.full = false;
      if (desk.waiting.length > 0 && (any || isSame)) serve(desk);
    }
  };

  const goOn = (operator: Operator): void => {
    serveOthers(operator, { afresh: true });
    desks.forget(operator);
  };

  return serve;
};

/** What is said is the answer for all who still wait for this operator. */
const giveUp = (
  desks: Desks,
  doors: SessionDoors,
  operator: Operator,
  said: (desk: Desk) => Tried,
): void => {
  for (const desk of [...desks.all.values()].filter((one) => one.operator === operator)) {
    for (const one of desk.waiting.splice(0)) one.answer(answerOf(doors, said(desk), one));
    if (desk.sessions === 0) desks.close(desk);
  }
};
