import { domainOf } from "../address.ts";
import { asksForBackoff, isDeferral } from "./classify.ts";
import type { Dialogue } from "./converse.ts";
import type { Limits } from "./limits.ts";
import type { Reply, Stage } from "./reply.ts";
import { type Heard, isFault, type WireFault } from "./wire.ts";

export type Plan = {
  /** Our name, whose address is the one we come from. */
  readonly helo: string;
  /** A real mailbox of ours: a null sender would be taken for a backscatter callout. */
  readonly from: string;
  readonly mxHost: string;
  /** Domains as A-labels. */
  readonly recipients: readonly string[];
  /** Whom else to ask about. Absent: nobody. */
  readonly otherwise?: Otherwise;
  /** By domain in lower case: an address that nobody has, where it is not known yet whether everybody is accepted. */
  readonly decoys: ReadonlyMap<string, string>;
  readonly limits: Limits;
  /** Whether to QUIT after so many recipients, because another session needs the connection more. */
  readonly isToEnd?: ((asked: number) => boolean) | undefined;
  /** False: stay in the clear even where STARTTLS is offered. */
  readonly tls: boolean;
};

/** For a person whose address is not known: more guesses, in the place of the recipient that was the first one. */
export type Otherwise = {
  /** By the recipient's place in the plan. */
  readonly at: readonly (readonly string[])[];
  /** The server knows nobody of that name: only then is the next guess asked about. */
  readonly isNobody: (asked: Asked, mxHost: string) => boolean;
};

/** What came of one recipient. Either there is a reply, or a fault tells why there is none. */
export type Asked = {
  readonly recipient: string;
  readonly stage: Stage | "connect";
  readonly reply: Reply | null;
  readonly fault: WireFault | "smtputf8_unsupported" | null;
};

/**
 * `us`: everybody was asked. `limit`: as many as we ask of one connection. `full`: too many recipients for the
 * server, another connection takes the rest. `421`: the server wants to be left alone for a while. `backoff`: it says
 * the same in other words, such as those against harvesters. `refused`: it does not want to talk to us. `lost`: a
 * fault of the wire. `deadline`: the caller's time was up.
 */
export type ClosedBy =
  | "us"
  | "limit"
  | "full"
  | "421"
  | "backoff"
  | "refused"
  | "lost"
  | "deadline";

export type SessionResult = {
  /** Where there were guesses: the one that settled it, or the last. */
  readonly recipients: readonly Asked[];
  /** Guesses that are nobody's, and after which another one was asked about. */
  readonly nobody: readonly string[];
  /** Not heard about yet: for another session, after the break that `closedBy` asks for. */
  readonly unasked: readonly string[];
  /** One per domain that was asked; null when the answer was lost. Only a 2xx or 5xx here settles anything. */
  readonly decoys: readonly { readonly domain: string; readonly reply: Reply | null }[];
  readonly closedBy: ClosedBy;
  /** What ended the session early: why the unasked are unasked. */
  readonly ending: { readonly stage: Asked["stage"]; readonly heard: Heard } | null;
  readonly tls: boolean;
  readonly extensions: readonly string[];
};

/**
 * One connection's dialogue: greeting, EHLO, STARTTLS where offered, MAIL, and RCPT for one after the other.
 * Never DATA, never VRFY, and no PIPELINING: a server that hangs up must leave no doubt which answer is whose.
 */
export function* session(plan: Plan): Dialogue<SessionResult> {
  const opened = yield* open(plan);
  const talk: Talk = { ...opened, plan, asked: [], nobody: [], decoys: [], ...NOTHING_SAID };
  const stop = opened.stop ?? (yield* askAll(talk));
  if (stop && talk.rcpts === 0) answerForAll(talk, stop);
  return {
    recipients: talk.asked,
    nobody: talk.nobody,
    unasked: plan.recipients.slice(talk.asked.length),
    decoys: talk.decoys,
    closedBy: stop?.closedBy ?? "us",
    ending: stop?.ending ?? null,
    tls: talk.tls,
    extensions: talk.extensions,
  };
}

type Stop = Pick<SessionResult, "closedBy" | "ending">;
type Opened = Pick<SessionResult, "tls" | "extensions"> & { readonly stop: Stop | null };

/** How far a session has come. `asked` runs along the plan's recipients, without a gap. */
type Talk = Pick<SessionResult, "tls" | "extensions"> & {
  readonly plan: Plan;
  readonly asked: Asked[];
  readonly nobody: string[];
  readonly decoys: SessionResult["decoys"][number][];
  transactions: number;
  recipientsHere: number;
  utf8: boolean;
  rcpts: number;
  rejections: number;
};

const NOTHING_SAID = { transactions: 0, recipientsHere: 0, utf8: false, rcpts: 0, rejections: 0 };

function* open(plan: Plan): Dialogue<Opened> {
  const closed = (stage: Stage, heard: Heard): Opened => ({
    stop: stopAt(stage, heard),
    tls: false,
    extensions: [],
  });
  const greeting = yield { say: null, wait: "greeting" };
  if (!isReply(greeting, 220)) return closed("greeting", greeting);

  const clear = yield* hello(plan.helo);
  if (!isReply(clear, 250)) return closed("ehlo", clear);
  const inClear = { stop: null, tls: false, extensions: extensionsOf(clear) };
  if (!plan.tls || !inClear.extensions.includes("STARTTLS")) return inClear;

  const upgrade = yield { say: "STARTTLS", wait: "starttls", tlsTo: plan.mxHost };
  if (isFault(upgrade) || upgrade.code === 421) return closed("starttls", upgrade);
  // It is offered but does not work today (RFC 3207 §4). Mail would go on in the clear, and so do we.
  if (upgrade.code !== 220) return inClear;

  // What was offered in the clear may have been forged, and is asked for again (RFC 3207 §4.2).
  const secured = yield* hello(plan.helo);
  if (isFault(secured)) return closed("starttls", secured);
  if (!isReply(secured, 250)) return closed("ehlo", secured);
  return { stop: null, tls: true, extensions: extensionsOf(secured) };
}

/** RFC 5321 §4.1.4: a server that does not know EHLO is asked with HELO. */
function* hello(helo: string): Dialogue<Heard> {
  const heard = yield { say: `EHLO ${helo}`, wait: "ehlo" };
  if (!isReply(heard, 500) && !isReply(heard, 502)) return heard;
  return yield { say: `HELO ${helo}`, wait: "ehlo" };
}

const extensionsOf = ({ text }: Reply): readonly string[] =>
  text
    .split("\n")
    .slice(1)
    .map((line) => line.split(/[ =]/, 1)[0]?.toUpperCase() ?? "");

function* askAll(talk: Talk): Dialogue<Stop | null> {
  for (const [place, recipient] of talk.plan.recipients.entries()) {
    if (talk.rcpts > 0 && talk.plan.isToEnd?.(place)) return LIMIT;
    if (needsUtf8(recipient) && !talk.extensions.includes("SMTPUTF8")) {
      talk.asked.push({ recipient, stage: "rcpt", reply: null, fault: "smtputf8_unsupported" });
      continue;
    }
    const stop = yield* askAbout(talk, recipient, talk.plan.otherwise?.at[place] ?? []);
    if (stop) return stop;
  }
  return null;
}

/** Guesses come to an end with the first that is somebody's, or about which the server would not say. */
function* askAbout(
  talk: Talk,
  recipient: string,
  others: readonly string[],
): Dialogue<Stop | null> {
  const stop =
    (yield* makeRoom(talk, recipient)) ??
    (yield* askReal(talk, recipient)) ??
    (yield* askDecoy(talk, recipient));
  const [next, ...more] = others;
  const asked = talk.asked.at(-1);
  if (stop || next === undefined || !asked || !isNobody(talk, asked)) return stop;
  talk.asked.pop();
  talk.nobody.push(recipient);
  return yield* askAbout(talk, next, more);
}

const isNobody = ({ plan }: Talk, asked: Asked): boolean =>
  plan.otherwise?.isNobody(asked, plan.mxHost) ?? false;

const LIMIT: Stop = { closedBy: "limit", ending: null };

/** Sees to it that a transaction is open and has room for one more recipient. */
function* makeRoom(talk: Talk, recipient: string): Dialogue<Stop | null> {
  const { limits, from } = talk.plan;
  const utf8 = needsUtf8(recipient);
  if (talk.rejections >= limits.rejectionsPerConnection) return LIMIT;
  const hasRoom = talk.transactions > 0 && talk.recipientsHere < limits.recipientsPerTransaction;
  if (hasRoom && (talk.utf8 || !utf8)) return null;

  if (talk.transactions >= limits.transactionsPerConnection) return LIMIT;
  if (talk.transactions > 0) {
    const reset = yield { say: "RSET", wait: "rset" };
    if (!isReply(reset, 250)) return stopAt("mail", reset);
  }
  // RFC 6531 §3.4: only where an address needs it, since some servers are stricter with such mail.
  const mail = yield { say: `MAIL FROM:<${from}>${utf8 ? " SMTPUTF8" : ""}`, wait: "mail" };
  if (!isReply(mail, 250)) return stopAt("mail", mail);
  talk.transactions += 1;
  talk.recipientsHere = 0;
  talk.utf8 = utf8;
  return null;
}

function* askReal(talk: Talk, recipient: string): Dialogue<Stop | null> {
  const heard = yield { say: `RCPT TO:<${recipient}>`, wait: "rcpt" };
  if (heard === "deadline") return stopAt("rcpt", heard);

  // What ends a session is the answer of the one who opened it, or nobody would ever get on. A later one was
  // only in the way of it and is asked again.
  const isFirst = talk.rcpts === 0;
  const stop = endOf(heard, talk.plan.mxHost);
  talk.rcpts += 1;
  talk.recipientsHere += 1;
  if (isFirst || !stop) talk.asked.push({ recipient, stage: "rcpt", ...answer(heard) });
  if (!stop && isRejection(heard)) talk.rejections += 1;
  return stop;
}

/**
 * After the first address of a domain that was accepted or deferred: a server that bans who asks for strangers has
 * then answered. A server that greylists has to see the random recipient as early as the person, or it would still
 * defer it when it accepts the person.
 */
function* askDecoy(talk: Talk, recipient: string): Dialogue<Stop | null> {
  const domain = domainOf(recipient).toLowerCase();
  const decoy = talk.plan.decoys.get(domain);
  const isKnown = talk.decoys.some((known) => known.domain === domain);
  const reply = talk.asked.at(-1)?.reply;
  if (!decoy || isKnown || !reply) return null;
  if (reply.code >= 300 && !isDeferral(reply, talk.plan.mxHost)) return null;

  const heard = yield { say: `RCPT TO:<${decoy}>`, wait: "rcpt" };
  if (heard === "deadline") return stopAt("rcpt", heard);
  talk.decoys.push({ domain, reply: answer(heard).reply });
  if (isRejection(heard)) talk.rejections += 1;
  return endOf(heard, talk.plan.mxHost);
}

/** Nobody could be asked, and everybody waiting has the same answer. Those who only came too late have none. */
const answerForAll = ({ plan, asked }: Talk, { closedBy, ending }: Stop): void => {
  if (!ending || closedBy === "deadline") return;
  const { stage, heard } = ending;
  for (const recipient of plan.recipients.slice(asked.length))
    asked.push({ recipient, stage, ...answer(heard) });
};

const stopAt = (stage: Stage, heard: Heard): Stop => ({
  closedBy: closedBy(heard),
  ending: { stage, heard },
});

const closedBy = (heard: Heard): ClosedBy => {
  if (isFault(heard)) return heard === "deadline" ? "deadline" : "lost";
  if (isTooMany(heard)) return "full";
  return heard.code === 421 ? "421" : "refused";
};

/** Most answers to RCPT are about the recipient, and the session goes on. */
const endOf = (heard: Heard, mxHost: string): Stop | null => {
  if (isFault(heard) || heard.code === 421) return stopAt("rcpt", heard);
  if (asksForBackoff(heard, { stage: "rcpt", mxHost }))
    return { closedBy: "backoff", ending: { stage: "rcpt", heard } };
  return isTooMany(heard) ? stopAt("rcpt", heard) : null;
};

/** RFC 5321 §4.5.3.1.10: 452, or 552 from older servers. It is said of this connection, not of the address. */
const isTooMany = ({ code, enhanced, text }: Reply): boolean =>
  enhanced === null
    ? (code === 452 || code === 552) && /too many (?:recipients|rcpts?)/i.test(text)
    : enhanced.endsWith(".5.3");

const isReply = (heard: Heard, code: number): heard is Reply =>
  !isFault(heard) && heard.code === code;

const isRejection = (heard: Heard): boolean => !isFault(heard) && heard.code >= 400;

const answer = (heard: Heard): Pick<Asked, "reply"> & { readonly fault: WireFault | null } =>
  isFault(heard) ? { reply: null, fault: heard } : { reply: heard, fault: null };

const needsUtf8 = (address: string): boolean => /\P{ASCII}/u.test(address);
