import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import type { CheckWorld } from "./dns-lookups.ts";

/** The address accepts a mail (open), does not exist (unknown), is too old (expired), or has received its mail (used). */
export type RecipientStatus = "open" | "unknown" | "expired" | "used";

/** busy: the sender may send the mail again later. unreadable: the mail does not contain the expected content. */
export type AcceptOutcome = "stored" | "busy" | "unreadable" | Exclude<RecipientStatus, "open">;

/** Handles mail by the prefix of its local part. `token`: the rest of the local part. */
export type MailRecipient = {
  readonly prefix: string;
  readonly find: (world: CheckWorld, token: string) => Promise<RecipientStatus>;
  /** Returns when the mail is stored durably, or refused. Throws when the outcome is uncertain: then the sender must retry. */
  readonly accept: (
    world: CheckWorld,
    token: string,
    mail: ReceivedMessage,
  ) => Promise<AcceptOutcome>;
};
