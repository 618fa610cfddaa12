import { AREAS } from "@mailproof/core/accounts/scopes";
import { Failure } from "@mailproof/core/lib/failure";
import { toCredits } from "@mailproof/core/money/credits";
import type { Invitation, Member, Passkey, Person } from "@mailproof/core/people/items";
import type { Actor } from "@mailproof/core/people/members";
import { mayManageRole, ROLES, type Role } from "@mailproof/core/people/roles";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import {
  Credits,
  describe,
  EMAIL_LENGTH_MAX,
  limitCharacters,
  noControls,
  notEmpty,
  part,
} from "./common.ts";
import * as field from "./fields.ts";
import { createLimitFields } from "./limits.ts";

export const RoleName = v.picklist(ROLES, `must be one of ${ROLES.join(", ")}`);

const ROLE = describe(
  RoleName,
  "owner: everything, with API keys and people. admin: everything but API keys; manages admins, members and viewers, and with a limit only removes them. member: reads and writes. viewer: reads.",
);

const NAME_LENGTH_MAX = 100;
export const PersonName = v.pipe(
  v.string(),
  v.trim(),
  notEmpty,
  limitCharacters(NAME_LENGTH_MAX),
  noControls,
);

export const InvitedEmail = v.pipe(
  v.string(),
  v.trim(),
  notEmpty,
  limitCharacters(EMAIL_LENGTH_MAX),
  noControls,
  v.regex(/^[^\s@<>]+@[^\s@<>]+$/, "must be an email address"),
  v.toLowerCase(),
);

const MONTHLY = "The most credits that the member may spend in a month (UTC). Left out: no limit.";

export const LimitFields = createLimitFields(
  "Limits the member to lists or to domains. Left out: no limit.",
  MONTHLY,
);

export const RoleField = { role: ROLE };

const Limits = {
  area: describe(
    v.optional(v.picklist(AREAS)),
    "The part of the service that the member is limited to. Left out: no limit.",
  ),
  monthly_credits: describe(v.optional(Credits), MONTHLY),
};

export const MemberSummary = v.object({
  person_id: field.text("The person's id."),
  name: field.text("The person's name."),
  email: field.maybeText("The person's address. Left out when it is not known."),
  ...RoleField,
  ...Limits,
  since: field.text("When the person became a member, ISO 8601."),
});

export const toMemberSummary = (
  member: Member,
  person: Person | undefined,
): v.InferOutput<typeof MemberSummary> => ({
  person_id: member.person,
  name: person?.name ?? "",
  ...(person?.email && { email: person.email }),
  role: member.role,
  ...fromLimits(member),
  since: member.since,
});

const fromLimits = ({ area, monthlyHalves }: Pick<Member, "area" | "monthlyHalves">) => ({
  ...(area && { area }),
  ...(monthlyHalves !== undefined && { monthly_credits: toCredits(monthlyHalves) }),
});

export const InvitationSummary = v.object({
  invitation_id: field.text("The invitation's id."),
  ...RoleField,
  ...Limits,
  email: field.maybeText(
    "The address that may accept the invitation. Left out when the link is enough.",
  ),
  expires_at: field.text("When the link expires, ISO 8601."),
});

export const toInvitationSummary = (
  invitation: Invitation,
): v.InferOutput<typeof InvitationSummary> => ({
  invitation_id: invitation.id,
  role: invitation.role,
  ...fromLimits(invitation),
  ...(invitation.email && { email: invitation.email }),
  expires_at: new Date(invitation.expires_at * 1000).toISOString(),
});

/** An admin may neither invite, change nor remove an owner, nor make one. */
export const assertMayManage = ({ person }: Caller, ...roles: readonly Role[]): void => {
  const own = person?.role;
  if (own && roles.every((role) => mayManageRole(own, role))) return;
  throw new Failure("FORBIDDEN", "nothing_charged", "Your role does not manage this role.");
};

/** As assertMayManage, for rights that the caller gives: a limited admin could otherwise lift the limit. */
export const assertMayGrant = (caller: Caller, ...roles: readonly Role[]): void => {
  assertMayManage(caller, ...roles);
  if (!caller.person?.isLimited) return;
  const what =
    "Your access is limited, so you can remove members, but neither invite nor change any.";
  throw new Failure("FORBIDDEN", "nothing_charged", what);
};

export const toActor = ({ person }: Caller): Actor | undefined =>
  person?.role ? { id: person.id, role: person.role } : undefined;

export const noSuchMember = () =>
  new Failure("NOT_FOUND", "nothing_charged", "The account has no member with this id.");

export const PasskeySummary = v.object({
  passkey_id: field.text("The passkey's id."),
  name: field.text("The passkey's name."),
  created_at: field.text("When it was added, ISO 8601."),
  last_used_at: field.maybeText("When it was last used, ISO 8601. Left out before its first use."),
});

export const toPasskeySummary = ({
  id,
  name,
  createdAt,
  usedAt,
}: Passkey): v.InferOutput<typeof PasskeySummary> => ({
  passkey_id: id,
  name,
  created_at: createdAt,
  ...(usedAt && { last_used_at: usedAt }),
});

/** A person's session in the answer of a sign-in. */
export const SignedIn = v.object({
  person_id: field.text("The person's id."),
  account_id: field.maybeText("The account that the invitation was for. Left out without one."),
});

export { part };
