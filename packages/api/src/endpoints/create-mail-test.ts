import { createMailTest as create } from "@mailproof/core/deliverability/mail-tests/create-mail-test";
import { formatCredits, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { CreditsRemaining } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { MailTest, toMailTest } from "../schema/mail-tests.ts";

export const createMailTest = endpoint({
  id: "createMailTest",
  route: "POST /v1/deliverability/tests",
  tag: "Deliverability",
  addition:
    "A check of a domain does not see the mail itself: its signature, its content and its route.",
  summary: "Create an address that receives one mail and reports how it arrived.",
  price: `${formatCredits(PRICES.mailTest)}, refunded when no mail arrives within the hour.`,
  access: "deliverability:write",
  needs: ["table:readwrite", "queue:send"],
  keyed: true,
  tool: {
    effect: "additive",
    hint: "The address accepts one mail within the hour. Ask the user to send it from the system to test, then read the report with get_mail_test.",
  },
  answers: [201],
  errors: ["INVALID_IDEMPOTENCY_KEY", "INSUFFICIENT_CREDITS", "NOT_CONFIGURED"],

  output: v.object({
    ...MailTest.entries,
    credits_used: field.credits("Credits charged by this request."),
    credits_remaining: CreditsRemaining,
    idempotent_replay: field.maybeBoolean(
      "True when the test of an earlier request is returned. Left out otherwise.",
    ),
  }),

  async handle(world, caller, { key }) {
    const keyed = keyedBy("mail_test", caller, key, {});
    const { test, price, replayed, remaining } = await create(world, caller, keyed);
    return {
      status: 201,
      data: {
        ...toMailTest(test),
        credits_used: caller.mode === "test" ? 0 : toCredits(price),
        ...(remaining !== undefined && { credits_remaining: toCredits(remaining) }),
        ...(replayed && { idempotent_replay: true }),
      },
    };
  },
});
