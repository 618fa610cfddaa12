import { formatCredits, toCredits } from "@mailproof/core/money/credits";
import { PRICES } from "@mailproof/core/money/prices";
import { FORM_CLASSES, toFormClass } from "@mailproof/core/verify/form-class";
import { verifyForForm } from "@mailproof/core/verify-one/verify-for-form";
import { readAddress } from "@mailproof/mail/address-cell";
import * as v from "valibot";
import { type Caller, endpoint, ok } from "../http/endpoint.ts";
import { keyedBy } from "../http/idempotency.ts";
import { Charged, chargedFor } from "../schema/charged.ts";
import { describe, EmailText, optional, PAID_ERRORS } from "../schema/common.ts";
import { Control, ControlInput } from "../schema/control.ts";
import * as field from "../schema/fields.ts";

export const verifyForm = endpoint({
  id: "verifyForm",
  route: "POST /v1/verify/form",
  tag: "Verification",
  addition:
    "A sign-up form asks from the visitor's browser, with a key that anyone may read, and must not tell who has a mailbox.",
  summary: "Verify the address that a visitor types into a form.",
  price: `${formatCredits(PRICES.verify)}; ${toCredits(PRICES.verifyControlled)} credit when \`control\` is proven; nothing when our fault or limits kept us from asking the mail server, and nothing for an address that names an IP address.`,
  access: "verification:write",
  forVisitors: true,
  needs: ["table:readwrite", "queue:send", "mail", "https", "seal"],
  keyed: true,
  // Not a tool: pages use it, and a program calls verifyEmail.
  tool: null,
  errors: [...PAID_ERRORS, "RESULT_DELETED", "REQUEST_IN_PROGRESS"],

  body: v.strictObject({
    email: describe(EmailText, "The address as the visitor typed it."),
    control: describe(
      optional(ControlInput),
      "What the visitor's browser says of its control of the address. The page's origin must be `origin`.",
    ),
  }),
  output: v.object({
    email: field.text("The address as it was read."),
    class: describe(
      v.picklist(FORM_CLASSES),
      "go: take the address. ask: take it after the visitor has looked at it again. no: it cannot receive mail, or is disposable. It follows from syntax, the domain and lists alone, and is the same whether or not the mailbox exists.",
    ),
    reason: field.textOrNull("Code for the class. Null for `go`."),
    did_you_mean: field.textOrNull(
      "The address that was probably intended. Null when there is no likely typo.",
    ),
    job_id: field.textOrNull(
      "The job that asks the mail server. Your back end reads the result at GET /v1/jobs/{id}; no public key can. Null where no mail server is asked: control is proven, or the address names an IP address instead of a domain.",
    ),
    receipt: field.maybeText(
      "A compact JWS (EdDSA) that your back end checks by GET /.well-known/jwks.json. Its `jti` is the job, where there is one.",
    ),
    ...Control,
    ...Charged,
  }),

  async handle(world, caller, { body, key }) {
    const { visitor, keyId } = caller;
    const keyed = keyedBy("verify", caller, toOwnKey(caller, key), { ...body, form: true });
    const email = readAddress(body.email);
    // A token of another page proves nothing here, whatever the body states.
    const proof = body.control && { ...body.control, ...(visitor && { origin: visitor.origin }) };
    const request = { email, proof, keyId, visit: visitor };
    const { seen, paid, receipt } = await verifyForForm(world, caller, request, keyed);
    return ok({
      email: seen.email,
      ...toFormClass(seen),
      did_you_mean: seen.ai?.typoSuggestion ?? null,
      job_id: paid.kind === "pending" ? paid.pending.job : null,
      ...(receipt !== undefined && { receipt }),
      ...(paid.control && { control: paid.control }),
      ...chargedFor(paid, caller),
    });
  },
});

/**
 * Prefixes a visitor's Idempotency-Key, so that visitors neither use the account's keys or each other's, nor learn which keys
 * were used. A sent key never contains a space.
 */
const toOwnKey = ({ visitor }: Caller, key: string | null): string | null =>
  visitor && key !== null ? `${visitor.id} ${key}` : key;
