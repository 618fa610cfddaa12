import type { MailHost } from "../mail/mail-hosts.ts";
import type { Tried } from "../mail/smtp/connect.ts";
import { limitsOf, PROVIDER_CONNECTIONS, providerOf } from "../mail/smtp/limits.ts";
import type { World } from "../world.ts";
import type { Held } from "./hold-session.ts";

/** After a 421 the server is left alone: this long, then twice as long, up to the greatest. */
const REST_MS = 30_000;
const REST_MS_MAX = 600_000;
/** Who waits sits out so many rests in a row. After one more, what the server said is the answer for all. */
const RESTS_PATIENT = 2;
/** A server that mostly says no, or hangs up, sees us as a harvester: it gets a moment before the next session. */
const BREATH_MS = 5_000;

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
};

/**
 * Lets an operator rest after what a session met there. True: it has been asked for rest too often, and nobody
 * waits for it any more. Sessions that ran side by side hear of one and the same trouble: it counts once.
 */
export const attend = (
  operator: Operator,
  { refusal, strained }: Held,
  sleep: World["sleep"],
  rested: () => void,
): boolean => {
  if (refusal === null && !operator.resting) operator.rests = 0;
  if (refusal !== null) operator.refusal = refusal;
  if (operator.resting || (refusal === null && !strained)) return isOutOfPatience(operator);
  if (refusal !== null) operator.rests++;
  const restMs = Math.min(REST_MS_MAX, REST_MS * 2 ** (operator.rests - 1));
  operator.resting = true;
  // A flag and not a time to compare with: a timer may wake a moment early, and clocks are set back.
  void sleep(refusal === null ? BREATH_MS : restMs).then(() => {
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

  const operatorOf = (host: MailHost | undefined): Operator => {
    const provider = providerOf(host?.host ?? "");
    const name = provider === "other" ? (host?.ips[0] ?? "") : provider;
    const connections =
      provider === "other" ? limitsOf(provider).connections : PROVIDER_CONNECTIONS;
    const operator = known.get(name) ?? {
      connections,
      desks: 0,
      sessions: 0,
      resting: false,
      rests: 0,
      refusal: null,
    };
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
