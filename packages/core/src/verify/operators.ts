import type { Tried } from "../mail/smtp/connect.ts";
import type { World } from "../world.ts";
import { type Line, newLine } from "./line.ts";
import type { Rest, Said, Spot } from "./places.ts";
import { type Ended, restAfter } from "./rest.ts";

/** Who waits sits out so many rests in a row. After one more, what the server said is the answer for all. */
const RESTS_PATIENT = 2;

/** Whoever runs the machines, under however many names: a provider, or one address. What it bears, all share. */
export type Operator = {
  readonly connections: number;
  /** At which somebody waits or is served. */
  desks: number;
  sessions: number;
  resting: boolean;
  /** In a row, and the session that asked for the last one. */
  rests: number;
  refusal: Tried | null;
  readonly line: Line;
  /** Host queues where a caller waits for a connection that others have. */
  readonly callersAt: Set<string>;
  /** Sessions of lists that end early for one of those. */
  yielding: number;
};

/**
 * Lets an operator rest after what a session met there, or as others of ours say. True: it has been asked for rest
 * too often, and nobody waits for it any more. Sessions that ran side by side hear of one and the same trouble: it
 * counts once.
 */
export const attend = (
  operator: Operator,
  ended: Ended,
  told: Rest | null,
  sleep: World["sleep"],
  rested: () => void,
): boolean => {
  const said = told?.said ? heardByOthers(told.said) : null;
  operator.refusal = ended.refusal ?? said ?? operator.refusal;
  if (operator.resting) return isOutOfPatience(operator);

  const rest = told ?? restAfter(operator.rests, ended);
  operator.rests = rest.rests;
  if (rest.ms <= 0) return isOutOfPatience(operator);
  operator.resting = true;
  // A flag and not a time to compare with: a timer may wake a moment early, and clocks are set back.
  void sleep(rest.ms).then(() => {
    operator.resting = false;
    rested();
  });
  return isOutOfPatience(operator);
};

export const isOutOfPatience = ({ resting, rests }: Operator): boolean =>
  resting && rests > RESTS_PATIENT;

/** Kept while anybody waits for them or they rest: all desks of one operator must share one count. */
export const operators = () => {
  const known = new Map<string, Operator>();
  const names = new Map<Operator, string>();

  const operatorOf = ({ operator: name, connections }: Spot): Operator => {
    const operator = known.get(name) ?? newOperator(connections);
    known.set(name, operator);
    names.set(operator, name);
    return operator;
  };

  const forget = (operator: Operator): void => {
    const name = names.get(operator);
    if (operator.desks > 0 || operator.resting || name === undefined) return;
    known.delete(name);
    names.delete(operator);
  };

  return { operatorOf, forget };
};

const newOperator = (connections: number): Operator => ({
  connections,
  desks: 0,
  sessions: 0,
  resting: false,
  rests: 0,
  refusal: null,
  line: newLine(),
  callersAt: new Set(),
  yielding: 0,
});

/** As if we had been there: the words are the server's, only the session was another's. */
const heardByOthers = ({ host, ip, stage, reply }: Said): Tried => ({
  host,
  ip,
  result: {
    recipients: [],
    nobody: [],
    unasked: [],
    decoys: [],
    closedBy: "421",
    ending: { stage, heard: reply },
    tls: false,
    extensions: [],
  },
  transcript: [{ ms: 0, who: "wire", text: `${reply.code} (heard in another session)` }],
  attempts: [],
});
