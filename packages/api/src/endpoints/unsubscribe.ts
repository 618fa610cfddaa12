import { Failure } from "@mailproof/core/lib/failure";
import { switchMail } from "@mailproof/core/mails/unsubscribe";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, limitCharacters } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

const SWITCH = ["off", "on"] as const;

export const unsubscribe = endpoint({
  id: "unsubscribe",
  route: "POST /v1/mail/unsubscribe",
  tag: "People",
  addition:
    "The contract knows no mails; mail programs unsubscribe here with one click (RFC 8058).",
  summary: "End this service's mails to a person, by the link in each of them. No body is read.",
  access: "public",
  needs: ["table:readwrite", "cursor"],
  // Not a tool: mail programs send it.
  tool: null,
  repeat: "always",
  errors: ["NOT_FOUND"],

  query: v.strictObject({
    token: describe(v.pipe(v.string(), limitCharacters(200)), "The token of the link in the mail."),
    mail: describe(
      v.optional(v.picklist(SWITCH, "must be off or on"), "off"),
      "on: the person gets mails again. Default off.",
    ),
  }),
  output: v.object({ mail: field.text("off, or on.") }),

  async handle(world, _caller, { query: { token, mail } }) {
    if (await switchMail(world, token, mail === "on")) return ok({ mail });
    const what = "This link is not valid, or its person is gone.";
    throw new Failure("NOT_FOUND", "nothing_charged", what);
  },
});
