import type { ReceivedMessage } from "@mailproof/mail/message/received-message";
import type { CheckWorld } from "./dns-lookups.ts";

/** Whether an address takes a mail now. used: it has had its mail. */
export type RecipientStatus = "open" | "unknown" | "expired" | "used";

/** busy: the mail may be sent again later. unreadable: what the address takes is not in it. */
export type AcceptOutcome = "stored" | "busy" | "unreadable" | Exclude<RecipientStatus, "open">;

/** How mail is handled by the prefix of its local part. `token`: what follows the prefix. */
export type MailRecipient = {
  readonly prefix: string;
  readonly find: (world: CheckWorld, token: string) => Promise<RecipientStatus>;
  /** Returns when the mail is stored durably, or refused. Throws when that is not certain: then the sender has to retry. */
  readonly accept: (
    world: CheckWorld,
    token: string,
    mail: ReceivedMessage,
  ) => Promise<AcceptOutcome>;
};
