import { findAccount } from "@mailproof/core/accounts/accounts";
import { Failure } from "@mailproof/core/lib/failure";
import {
  acceptInvitation,
  createUsedFailure,
  findInvitation,
} from "@mailproof/core/people/invitations";
import { INVITATION_KINDS } from "@mailproof/core/people/items";
import { buildSessionEnd, findSession } from "@mailproof/core/people/sessions";
import * as v from "valibot";
import { endpoint } from "../http/endpoint.ts";
import { toSessionHeaders } from "../http/session.ts";
import { describe, Flag, optional } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { PersonName, RoleField, SignedIn } from "../schema/people.ts";

export const signInWithLink = endpoint({
  id: "signInWithLink",
  route: "POST /v1/sign-in/link",
  tag: "People",
  addition: "The contract knows keys only; people sign in to the dashboard here.",
  summary: "Read an invitation by the token of its link, or accept it and begin a session.",
  access: "public",
  fromOwnPage: true,
  // Not a tool: a person signs in.
  tool: null,
  errors: ["FORBIDDEN", "NOT_FOUND", "PAYLOAD_TOO_LARGE"],

  body: v.strictObject({
    token: describe(v.pipe(v.string(), v.maxLength(100)), "The token: the link's text after `#`."),
    accept: describe(Flag(false), "Accepts the invitation. Default false: only reads it."),
    name: describe(optional(PersonName), "The person's name. Required for a new person."),
    account_name: describe(optional(PersonName), "The account's name, on the first visit."),
  }),
  output: v.object({
    kind: describe(
      v.picklist(INVITATION_KINDS),
      "first: makes the service's first owner. member: makes a member of an account. return: signs in a person again.",
    ),
    account_name: field.maybeText("The account's name. Left out when there is none yet."),
    ...RoleField,
    email: field.maybeText(
      "The address that may accept, by the identity provider. Left out when the link is enough.",
    ),
    signed_in: describe(
      v.optional(SignedIn),
      "The new session. Left out when the invitation was only read.",
    ),
  }),

  async handle(world, _caller, { body, session }) {
    const invitation = await findInvitation(world, body.token);
    if (!invitation) throw createUsedFailure();
    const { kind, role, email, account } = invitation;
    const named = account === null ? undefined : await findAccount(world.table, account);
    const read = {
      kind,
      role,
      ...(named && { account_name: named.name }),
      ...(email && { email }),
    };
    if (!body.accept) return { status: 200, data: read };
    if (email && kind === "member" && world.settings.oidc)
      throw new Failure(
        "FORBIDDEN",
        "nothing_charged",
        `Accept this invitation by signing in as ${email}.`,
      );
    const before = session ? await findSession(world, session) : undefined;
    const accepted = await acceptInvitation(world, invitation, {
      person: kind === "member" ? before?.person : undefined,
      name: body.name ?? email ?? "Owner",
      accountName: body.account_name,
      // The browser's earlier session ends with the new one.
      also: () => (before ? [buildSessionEnd(before.session)] : []),
    });
    const signedIn = {
      person_id: accepted.person,
      ...(accepted.account && { account_id: accepted.account }),
    };
    return {
      status: 200,
      headers: toSessionHeaders(accepted.token),
      data: { ...read, signed_in: signedIn },
    };
  },
});
