import { takeDailyUse } from "@mailproof/core/accounts/public-keys";
import { formatCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import { verifyForForm } from "@mailproof/core/singles/verify-for-form";
import { FORM_CLASSES, toFormClass } from "@mailproof/core/verify/form-class";
import { readAddress } from "@mailproof/mail/address";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { orUnavailable } from "../http/http-failure.ts";
import { keyedBy } from "../http/idempotency.ts";
import { Charged, chargedFor } from "../schema/charged.ts";
import { describe, EmailText, KEYED_ERRORS, PAID_ERRORS } from "../schema/common.ts";

export const verifyForm = endpoint({
  id: "verifyForm",
  route: "POST /v1/verify/form",
  tag: "Verification",
  addition:
    "A sign-up form asks from the visitor's browser, with a key that anyone may read, and must not tell who has a mailbox.",
  summary: "Verify the address that a visitor types into a form.",
  price: `${formatCredits(PRICES.verify)}; nothing when the mail server could not be asked through our fault or limits.`,
  access: "verification:write",
  forVisitors: true,
  needs: ["table:readwrite", "queue:send", "mail"],
  keyed: true,
  // For pages: a program asks verifyEmail.
  tool: null,
  answers: [200],
  errors: [...KEYED_ERRORS, ...PAID_ERRORS, "RESULT_DELETED", "REQUEST_IN_PROGRESS"],

  body: v.strictObject({
    email: describe(EmailText, "The address as the visitor typed it."),
  }),
  output: v.object({
    email: describe(v.string(), "The address as it was read."),
    class: describe(
      v.picklist(FORM_CLASSES),
      "go: take the address. ask: take it after the visitor has looked at it again. no: it cannot receive mail, or is disposable. It follows from syntax, the domain and lists alone, and is the same whether or not the mailbox exists.",
    ),
    reason: describe(v.nullable(v.string()), "Code for the class. Null for `go`."),
    did_you_mean: describe(
      v.nullable(v.string()),
      "The address that was probably intended. Null when there is no likely typo.",
    ),
    job_id: describe(
      v.string(),
      "The job that asks the mail server. Your back end reads the result at GET /v1/jobs/{id}; no public key can.",
    ),
    ...Charged,
  }),

  async handle(world, caller, { body, key }) {
    if (caller.visitor) await orUnavailable(takeDailyUse(world, caller.keyId, caller.visitor.use));
    const keyed = keyedBy("verify", caller, key, { ...body, form: true });
    const email = readAddress(body.email);
    const { seen, job, paid } = await verifyForForm(world, caller, email, keyed);
    return {
      status: 200,
      data: {
        email: seen.email,
        ...toFormClass(seen),
        did_you_mean: seen.ai?.typoSuggestion ?? null,
        job_id: job,
        ...chargedFor(paid, caller),
      },
    };
  },
});
