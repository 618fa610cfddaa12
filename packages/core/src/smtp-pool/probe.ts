import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import type { Finding } from "@mailproof/mail/smtp/classify";
import type { HostAttempt } from "@mailproof/mail/smtp/connect";
import type { Transcript } from "@mailproof/mail/smtp/converse";
import type { Reply } from "@mailproof/mail/smtp/reply";
import type { Requester, Ticket } from "./fairness.ts";
import type { SessionEnd, SlotReturn } from "./slots/slots.ts";

// The question of a session to a mail server about one recipient, and the server's reply.

export type ProbeRequest = {
  /** The recipient as RCPT TO contains it. */
  readonly recipient: string;
  /** More guesses at the same person's address. The session tries each guess only after the server refused all earlier ones. */
  readonly fallbacks?: readonly string[];
  readonly domain: string;
  readonly hosts: readonly MailHost[];
  /** False where the domain is known to refuse unknown recipients: a random recipient would only cost reputation. */
  readonly probeCatchAll: boolean;
  /** True when the session names a random recipient anyway, to test whether the provider still refuses it (verify/canaries.ts). */
  readonly isCanary?: boolean;
  /** Absent: the process serves one person alone. */
  readonly requester?: Requester;
  /** The ticket of an earlier attempt that found no slot. */
  readonly ticket?: Ticket | undefined;
  /** The exit of the attempt that was greylisted; the pool prefers it. */
  readonly exit?: string | undefined;
  /**
   * How long the caller still waits. If no session has begun by then, the recipient returns later without a slot.
   * A duration, because the process that opens the session may have another clock. Absent: the caller waits to the end.
   */
  readonly waitMs?: number | undefined;
  /** True when the host was silent at an earlier attempt: the session then waits as long as for a tarpit. */
  readonly isPatient?: boolean | undefined;
  /** The trace of the requesting work, for the session's report. */
  readonly trace?: string | undefined;
};

/** Whether a domain accepts mail for any local part. Both "yes" and "no" need a proof. */
export type CatchAll = "yes" | "no" | "undecided" | "not_tested";

export type ProbeResult = {
  /** The recipient that the finding is about: the guess that was decided, or the last one. */
  readonly recipient: string;
  /** The earlier guesses, which the server refused as unknown. */
  readonly unknownRecipients: readonly string[];
  readonly finding: Finding;
  readonly reply: Reply | null;
  readonly host: string;
  readonly ip: string;
  readonly encrypted: boolean;
  readonly catchAll: CatchAll;
  readonly transcript: Transcript;
  /** The random recipient of this domain that the session asked about; null when it asked about none. */
  readonly randomRecipient: string | null;
  /** True when our circuit was open: no server was asked, and the reply comes from an earlier session. */
  readonly isWithheld?: boolean;
  /** Set when no slot was free at the mail provider, so no server was asked. */
  readonly comeBack?: SlotReturn;
  /** The provider and exit of a refusal that neither an acceptance nor a witness has proved yet (witnesses.ts). */
  readonly unproven?: string;
  /** The exit of the session. Absent when the process has one exit, or without a session. */
  readonly exit?: string;
};

/** A recipient whose reply is still to come. */
export type PendingProbe = Omit<ProbeRequest, "recipient" | "fallbacks"> & {
  readonly requester: Requester;
  readonly resolve: (resolve: ProbeResult) => void;
  /** The caller waits no longer. */
  isExpired: boolean;
  /** The time at which the recipient began to wait for a session. */
  waitsSinceMs: number;
  failures: number;
  /** The exits from which the provider refused a session with this recipient. */
  refusedExits: readonly string[];
  /** The exits that the recipient left because they had no slot or could not be reached. */
  leftExits: readonly string[];
  /** The guess that the session tries now; the guesses that it has not tried; the guesses that the server refused. */
  recipient: string;
  fallbacks: readonly string[];
  unknownRecipients: readonly string[];
};

/** Asks a mail server about one recipient, in a session that it shares with other recipients of that server. */
export type Probe = (question: ProbeRequest) => Promise<ProbeResult>;

export type SessionSummary = SessionEnd & {
  /** The results, which are delivered after the slot is released. */
  readonly answered: readonly AnsweredProbe[];
  readonly remaining: readonly PendingProbe[];
  /** The host that replied, if it was not the first. */
  readonly host: string;
  /** True when the connection broke while several commands may have been under way. */
  readonly lostFlight: boolean;
  readonly attempts: readonly HostAttempt[];
  /** The reply about a witness. Absent: the session asked about none. */
  readonly witness?: Reply | undefined;
};

/** `wasTried`: the server got the recipient, and replied. */
export type AnsweredProbe = {
  readonly one: PendingProbe;
  readonly probeResult: ProbeResult;
  readonly wasTried: boolean;
};
