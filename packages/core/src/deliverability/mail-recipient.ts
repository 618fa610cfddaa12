import type { World } from "../ports/world.ts";
import type { ReceivedMessage } from "./message/received-message.ts";

/** Whether an address takes a mail now. used: it has had its mail. */
export type RecipientStatus = "open" | "unknown" | "expired" | "used";

export type AcceptOutcome = "stored" | Exclude<RecipientStatus, "open">;

/** What is done with mail to local parts that begin with a prefix. `token`: what follows the prefix. */
export type MailRecipient = {
  readonly prefix: string;
  readonly find: (world: World, token: string) => Promise<RecipientStatus>;
  /** Returns when the mail is stored durably, or refused. Throws when that is not certain: then the sender has to retry. */
  readonly accept: (world: World, token: string, mail: ReceivedMessage) => Promise<AcceptOutcome>;
};
