import type { ProviderLimits } from "../mail-provider-table.ts";
import type { Reply, Stage } from "./reply.ts";
import type { ReplyOrFault, WireFault } from "./wire.ts";

// What a session with a mail host is for, and what it results in. dialogue.ts has the session.

export type SessionPlan = {
  /** Our name, whose address is the one we come from. */
  readonly helo: string;
  /** A real mailbox of ours: a null sender would look like a backscatter callout. */
  readonly from: string;
  readonly mxHost: string;
  /** Domains as A-labels. */
  readonly recipients: readonly string[];
  /** The further guesses. Absent: none. */
  readonly fallbacks?: FallbackRecipients;
  /** By domain in lower case: a random recipient, where it is not known yet whether the domain is a catch-all. */
  readonly randomRecipients: ReadonlyMap<string, string>;
  readonly limits: ProviderLimits;
  /** Whether to QUIT after this many recipients, because another session needs the connection more. */
  readonly shouldEnd?: ((tried: number) => boolean) | undefined;
  /** After the recipients: a mailbox that surely exists. Its refusal shows that the others are refused because of us. */
  readonly chooseWitness?: ChooseWitness | undefined;
  /** False: stay in the clear even where STARTTLS is offered. */
  readonly tls: boolean;
  /** False: one command at a time, even where PIPELINING is offered. */
  readonly pipelining?: boolean;
};

/** Undefined: no witness is asked about. */
export type ChooseWitness = (
  results: readonly RecipientResult[],
  mxHost: string,
) => string | undefined;

/** For a person whose address is not known: more guesses, in the place of the recipient that was the first one. */
export type FallbackRecipients = {
  /** By the recipient's place in the plan. */
  readonly byRecipient: readonly (readonly string[])[];
  /** The server does not know the recipient: only then the next guess is tried. */
  readonly isUnknownRecipient: (result: RecipientResult, mxHost: string) => boolean;
};

/** The outcome for one recipient: either a reply, or the fault that explains why there is none. */
export type RecipientResult = {
  readonly recipient: string;
  readonly stage: Stage | "connect";
  readonly reply: Reply | null;
  readonly fault: WireFault | "smtputf8_unsupported" | null;
};

/**
 * `us`: all were asked. `limit`: as many as we ask of one connection. `full`: the server accepts no further recipients, not
 * even in a new transaction, and another connection takes the rest. `421`: the server wants to be left alone for a
 * while. `backoff`: the same in other words, such as those against harvesters. `domain`: a 421 about the last
 * recipient's domain only. `refused`: it does not want to talk to us. `lost`: a fault of the wire. `deadline`: the
 * caller's time was up.
 */
export type ClosedBy =
  | "us"
  | "limit"
  | "full"
  | "421"
  | "backoff"
  | "domain"
  | "refused"
  | "lost"
  | "deadline";

export type SessionResult = {
  /** Where there were guesses: the one that settled it, or the last. */
  readonly recipients: readonly RecipientResult[];
  /** Guesses that the server does not know, and after which another one was tried. */
  readonly unknownRecipients: readonly string[];
  /** Without an outcome: for another session, after the pause that `closedBy` requires. */
  readonly remaining: readonly string[];
  /** One per domain that was asked; null when the answer was lost. Only a 2xx or 5xx here settles anything. */
  readonly catchAllProbes: readonly { readonly domain: string; readonly reply: Reply | null }[];
  /** The reply about a witness. Absent: the session asked about none, or lost the reply. */
  readonly witness?: Reply | undefined;
  readonly closedBy: ClosedBy;
  /** What ended the session early: why the unasked are unasked. */
  readonly ending: {
    readonly stage: RecipientResult["stage"];
    readonly reply: ReplyOrFault;
  } | null;
  readonly tls: boolean;
  readonly extensions: readonly string[];
};
