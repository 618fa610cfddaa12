import type { MailHost } from "../mail/dns/mail-hosts.ts";
import type { Finding } from "../mail/smtp/classify.ts";
import type { Transcript } from "../mail/smtp/converse.ts";
import type { Reply } from "../mail/smtp/reply.ts";
import type { Requester } from "../smtp-pool/requester.ts";
import type { CatchAll } from "./result.ts";

// What a mail server is asked about a recipient, and what it replied.

export type ProbeRequest = {
  /** As it is said to the server. */
  readonly recipient: string;
  /** More guesses at the same person's address, each asked about while those before it are nobody's. */
  readonly fallbacks?: readonly string[];
  readonly domain: string;
  readonly hosts: readonly MailHost[];
  /** False where the domain is known to refuse strangers: there a decoy would only annoy. */
  readonly probeCatchAll: boolean;
  /** Absent: the process serves one person alone. */
  readonly requester?: Requester;
};

export type ProbeResult = {
  /** Whom it is about: where there were guesses, the one that settled it, or the last. */
  readonly recipient: string;
  /** The guesses before it. They are nobody's. */
  readonly unknownRecipients: readonly string[];
  readonly finding: Finding;
  readonly reply: Reply | null;
  readonly host: string;
  readonly ip: string;
  readonly encrypted: boolean;
  readonly catchAll: CatchAll;
  readonly transcript: Transcript;
  /** The address that stood in for a stranger of this domain, where one was asked. */
  readonly randomRecipient: string | null;
};

/** Somebody whose answer is still to come. */
export type PendingProbe = Omit<ProbeRequest, "recipient" | "fallbacks"> & {
  readonly requester: Requester;
  readonly resolve: (resolve: ProbeResult) => void;
  failures: number;
  /** Guesses that are still to be asked about, and those that are nobody's. */
  recipient: string;
  fallbacks: readonly string[];
  unknownRecipients: readonly string[];
};
