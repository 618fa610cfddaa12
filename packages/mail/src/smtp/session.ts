import type { ProviderLimits } from "../mail-provider-table.ts";
import type { Reply, Stage } from "./reply.ts";
import type { ReplyOrFault, WireFault } from "./wire.ts";

// A session asks one mail host about recipients, and its protocol does no I/O. `createDialogue` (dialogue.ts) turns a
// `SessionPlan` into a generator that yields commands and receives replies: greeting, EHLO, STARTTLS, the recipients in
// flights (flight-plan.ts, flight.ts), a witness, QUIT. session-state.ts holds what the server said so far; session-stop.ts
// names the replies that end a session. `converse` (converse.ts) runs the generator over a wire within time limits, and
// reply-reader.ts parses the bytes; `trySession` (connect.ts) tries a domain's hosts in their order. Afterwards `classify`
// (classify.ts) reads each recipient's reply by the families of reply-rules/.

export type SessionPlan = {
  /** Our host name; it resolves to the address that we connect from. */
  readonly helo: string;
  /** A real mailbox of ours: a null sender would look like a backscatter callout. */
  readonly from: string;
  readonly mxHost: string;
  readonly recipients: readonly string[];
  /** Further guesses. Absent when each recipient is the only guess. */
  readonly fallbacks?: FallbackRecipients;
  /** A random recipient for each domain (in lower case) that is not yet known to be a catch-all or not. */
  readonly randomRecipients: ReadonlyMap<string, string>;
  readonly limits: ProviderLimits;
  /** Tells whether to QUIT after this many recipients, because another session needs the connection more. */
  readonly shouldEnd?: ((tried: number) => boolean) | undefined;
  /** Chooses an existing mailbox to ask about last. Its refusal shows that the server refused the others because of us. */
  readonly chooseWitness?: ChooseWitness | undefined;
  /** False when the session must stay in clear text, even where the server offers STARTTLS. */
  readonly tls: boolean;
  /** False when the session must send one command at a time, even where the server offers PIPELINING. */
  readonly pipelining?: boolean;
};

export type ChooseWitness = (
  results: readonly RecipientResult[],
  mxHost: string,
) => string | undefined;

/** Further guesses at a person's unknown address, each tried in place of the first guess. */
export type FallbackRecipients = {
  readonly byRecipient: readonly (readonly string[])[];
  /** True when the server does not know the recipient: only then the session tries the next guess. */
  readonly isUnknownRecipient: (result: RecipientResult, mxHost: string) => boolean;
};

export type RecipientResult = {
  readonly recipient: string;
  readonly stage: Stage | "connect";
  readonly reply: Reply | null;
  readonly fault: WireFault | "smtputf8_unsupported" | null;
};

/**
 * `us`: all recipients were asked. `limit`: our limit for a connection is reached. `full`: the server accepts no further recipients, not
 * even in a new transaction; another connection asks about the rest. `421`: the server asks for a pause. `backoff`: the server asks for a
 * pause in other words, such as those against harvesters. `domain`: a 421 about the last recipient's domain only. `refused`: the server
 * refuses the session. `lost`: a fault of the wire. `deadline`: the caller's time was up.
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
  /** The results. For a person with several guesses, the result of the guess that decided, or of the last guess. */
  readonly recipients: readonly RecipientResult[];
  /** Guesses that the server does not know, and after which the session tried another guess. */
  readonly unknownRecipients: readonly string[];
  /** Recipients without an outcome: another session asks about them, after the pause that `closedBy` requires. */
  readonly remaining: readonly string[];
  /** One per domain that was asked; null when the reply was lost. Only a 2xx or 5xx decides whether the domain is a catch-all. */
  readonly catchAllProbes: readonly { readonly domain: string; readonly reply: Reply | null }[];
  /** The reply about a witness. Absent when the session asked about none, or lost the reply. */
  readonly witness?: Reply | undefined;
  readonly closedBy: ClosedBy;
  /** The reply or fault that ended the session early, and left `remaining` without an outcome. */
  readonly ending: {
    readonly stage: RecipientResult["stage"];
    readonly reply: ReplyOrFault;
  } | null;
  readonly tls: boolean;
  readonly extensions: readonly string[];
};
