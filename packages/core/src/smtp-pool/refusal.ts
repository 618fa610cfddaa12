import type { Reply } from "@mailproof/mail/smtp/reply";
import type { RecipientResult } from "@mailproof/mail/smtp/session";
import * as v from "valibot";
import { redact } from "../lib/redact.ts";
import type { Fields } from "../ports/table.ts";

const REPLY_CHARS_MAX = 200;
const STAGES = ["connect", "greeting", "ehlo", "starttls", "mail", "rcpt"] as const;

/** The refusal that began a provider's backoff, for processes that did not get it themselves. */
export type ProviderRefusal = {
  readonly host: string;
  readonly ip: string;
  readonly stage: RecipientResult["stage"];
  readonly reply: Reply;
};

/** A mail server's refusal as items of the table hold it. */
export const StoredRefusal = v.object({
  host: v.string(),
  ip: v.string(),
  stage: v.picklist(STAGES),
  code: v.number(),
  enhanced: v.nullable(v.string()),
  text: v.string(),
});

export const toRefusal = ({
  host,
  ip,
  stage,
  ...reply
}: v.InferOutput<typeof StoredRefusal>): ProviderRefusal => ({ host, ip, stage, reply });

export const toStoredRefusal = (refusal: ProviderRefusal): Fields => {
  const { host, ip, stage, reply } = redactRefusal(refusal);
  return { host, ip, stage, code: reply.code, enhanced: reply.enhanced, text: reply.text };
};

/** The reply may contain the recipient's address, which no other account may see. */
export const redactRefusal = ({ reply, ...refusal }: ProviderRefusal): ProviderRefusal => ({
  ...refusal,
  reply: {
    code: reply.code,
    enhanced: reply.enhanced,
    text: String(redact(reply.text)).slice(0, REPLY_CHARS_MAX).toWellFormed(),
  },
});
