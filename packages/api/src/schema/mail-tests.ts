import {
  type MailTest as CoreMailTest,
  MAIL_TEST_STATUSES,
} from "@mailproof/core/deliverability/mail-tests/items";
import { toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import * as v from "valibot";
import { createText, describe } from "./common.ts";
import * as field from "./fields.ts";
import { omitNull } from "./omit-null.ts";

export const MailTest = v.object({
  test_id: field.text("The mail test's id."),
  status: describe(
    v.picklist(MAIL_TEST_STATUSES),
    "`waiting`: no mail has arrived. `assessing`: a mail has arrived, and the report follows within seconds. `received`: the report is there. `expired`: no mail arrived within the hour. `failed`: the mail could not be assessed because of an error in this service. An expired or failed test is refunded.",
  ),
  address: describe(
    createText("email"),
    "Send one mail to this address, the way your customers get theirs.",
  ),
  created_at: field.text("When the test was created, ISO 8601."),
  expires_at: field.text(
    "Until when the address takes a mail, ISO 8601. The status becomes `expired` within a minute after it.",
  ),
  received_at: field.maybeText("When the mail arrived, ISO 8601. Left out before."),
  from_domain: field.maybeText(
    "Domain of the address in the mail's From field. Left out without a report, or when the field names no address.",
  ),
  credits_charged: field.credits(
    "Credits that this test has cost: 0 after a refund, and with test keys.",
  ),
});

export type MailTest = v.InferOutput<typeof MailTest>;

export const toMailTest = (test: CoreMailTest): MailTest => {
  const isFree = test.mode === "test" || test.status === "expired" || test.status === "failed";
  return {
    test_id: test.id,
    status: test.status,
    address: test.address,
    created_at: test.createdAt,
    expires_at: test.openUntil,
    ...omitNull({ received_at: test.receivedAt ?? null, from_domain: test.fromDomain ?? null }),
    credits_charged: isFree ? 0 : toCredits(PRICES.mailTest),
  };
};
