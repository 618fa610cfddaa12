import type { RuleFamily } from "../reply-rule.ts";
import { ABOUT_OUR_SENDER, ABOUT_US, OUR_ADDRESS } from "./about-us.ts";
import { GONE_BY_CODE, MAILBOX_BY_CODE } from "./by-code.ts";
import { FULL_ELSEWHERE, GONE_ELSEWHERE } from "./languages.ts";
import { FULL_MAILBOX, GONE_MAILBOX } from "./mailbox.ts";
import { ABOUT_ONE_DOMAIN } from "./one-domain.ts";
import { PROVIDER_WORDS } from "./provider-words.ts";
import {
  LEFT_OVER,
  NEXT_HOST,
  PACE,
  POLICY,
  RELAY,
  RELAY_REFUSED,
  SERVER_TROUBLE,
} from "./server.ts";
import { THROTTLES } from "./throttles.ts";
import { ABOUT_WITNESSES } from "./witness.ts";

/**
 * The first match wins. Rules about us come first: a blocklist word outweighs "user unknown" in the same reply, because a server that
 * refuses us gives every recipient the same reply.
 */
export const RULE_FAMILIES: readonly RuleFamily[] = [
  ...ABOUT_WITNESSES,
  ...ABOUT_ONE_DOMAIN,
  ...PROVIDER_WORDS,
  ...NEXT_HOST,
  ...ABOUT_US,
  ...THROTTLES,
  ...OUR_ADDRESS,
  ...ABOUT_OUR_SENDER,
  ...FULL_MAILBOX,
  ...FULL_ELSEWHERE,
  ...SERVER_TROUBLE,
  ...PACE,
  ...RELAY_REFUSED,
  ...GONE_MAILBOX,
  ...GONE_ELSEWHERE,
  ...RELAY,
  ...MAILBOX_BY_CODE,
  ...GONE_BY_CODE,
  ...POLICY,
  ...LEFT_OVER,
];
