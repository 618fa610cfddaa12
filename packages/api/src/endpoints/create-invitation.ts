import { invite } from "@mailproof/core/people/invitations";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { toInvitationUrl } from "../http/session.ts";
import { describe, optional } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { toLimits } from "../schema/limits.ts";
import {
  assertMayGrant,
  InvitationSummary,
  InvitedEmail,
  LimitFields,
  RoleField,
  toInvitationSummary,
} from "../schema/people.ts";

export const createInvitation = endpoint({
  id: "createInvitation",
  route: "POST /v1/invitations",
  tag: "People",
  addition: "The contract knows keys only; an account's people are managed here.",
  summary:
    "Invite a person. The link works once, within 48 hours, and is shown only in this response.",
  access: "people",
  freshSignIn: true,
  needs: ["table:readwrite", "queue:send", "seal"],
  // Not a tool: agents have keys.
  tool: null,
  answers: [201],
  errors: ["LIMIT_REACHED", "PAYLOAD_TOO_LARGE"],

  body: v.strictObject({
    ...RoleField,
    ...LimitFields,
    email: describe(
      optional(InvitedEmail),
      "The person's address. Where an identity provider is set, only a person whose address it verified may accept. A new invitation for the address replaces an open one.",
    ),
  }),
  output: v.object({
    ...InvitationSummary.entries,
    url: field.text("The link. It is shown only in this response."),
    mailed: field.boolean("True when the link is also sent to `email`."),
  }),

  async handle(world, caller, { body, baseUrl }) {
    assertMayGrant(caller, body.role);
    const { invitation, token } = await invite(world, {
      kind: "member",
      account: caller.account,
      role: body.role,
      invitedBy: caller.person?.id ?? null,
      ...toLimits(body),
      ...(body.email && { email: body.email }),
    });
    return {
      status: 201,
      data: {
        ...toInvitationSummary(invitation),
        url: toInvitationUrl(baseUrl, token),
        mailed: body.email !== undefined && world.settings.mailFrom !== null,
      },
    };
  },
});
