import * as v from "valibot";
import { redact } from "../../lib/redact.ts";
import type { Fields } from "../../ports/table.ts";
import type { ProviderRefusal } from "../slots/slots.ts";

const REPLY_CHARS_MAX = 200;

const STAGES = ["connect", "greeting", "ehlo", "starttls", "mail", "rcpt"] as const;

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

/** The reply may name the recipient, which no other account may see. */
export const redactRefusal = ({ reply, ...refusal }: ProviderRefusal): ProviderRefusal => ({
  ...refusal,
  reply: {
    code: reply.code,
    enhanced: reply.enhanced,
    text: String(redact(reply.text)).slice(0, REPLY_CHARS_MAX).toWellFormed(),
  },
});
