import { toAccountKey } from "../accounts/account-items.ts";
import { buildAccount } from "../accounts/accounts.ts";
import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { encryptSecret } from "../lib/secret-box.ts";
import { addMs, HOUR_MS, toEpochSeconds } from "../lib/time.ts";
import { credits } from "../money/credits.ts";
import { findItem, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit, type OutboxWrite } from "../runtime/commit.ts";
import { createMail } from "../webhooks/mail-items.ts";
import {
  buildInvitationRemoval,
  buildInvitationWrites,
  buildMemberWrites,
  createPerson,
  FIRST_PERSON,
  hashToken,
  type Invitation,
  type Member,
  type Person,
  readInvitation,
  toInvitationKey,
  toInvitesPartition,
  toMemberKey,
  toMembershipKey,
  toMembersPartition,
  toPersonKey,
} from "./items.ts";
import { mayManageRole, ROLES, type Role } from "./roles.ts";
import { generateToken, mintSession } from "./sessions.ts";

// An invitation is a link that one person may use once, within 48 hours. Only the hash of its token is stored.

const INVITATION_MS = 48 * HOUR_MS;
const INVITATIONS_MAX = 100;
/** With those who are invited. */
const MEMBERS_MAX = 1_000;
const OWN_CREDITS = 1_000_000;

type InvitationRequest = Pick<
  Invitation,
  "kind" | "account" | "role" | "invitedBy" | "email" | "person" | "area" | "monthlyHalves"
>;

export type MintedInvitation = { readonly invitation: Invitation; readonly token: string };

/** Creates an invitation. It replaces an open one for the same address, or the same person, or the first visit. */
export const invite = async (
  world: World,
  request: InvitationRequest,
): Promise<MintedInvitation> => {
  const now = world.now();
  const token = generateToken(world);
  const invitation: Invitation = {
    ...request,
    id: world.newId("inv"),
    hash: hashToken(token),
    createdAt: now.toISOString(),
    expires_at: toEpochSeconds(addMs(now, INVITATION_MS)),
  };
  const open = await listInvitations(world, request.account);
  const replaced = open.filter((one) => isReplacedBy(one, request));
  if (open.length - replaced.length >= INVITATIONS_MAX)
    throw new Failure(
      "LIMIT_REACHED",
      "nothing_charged",
      `The account already has ${INVITATIONS_MAX} open invitations, the maximum. Withdraw one first.`,
    );
  await assertRoom(world, request.account, open.length - replaced.length);
  const [proof, ...also] = buildInvitationWrites(invitation);
  const { outcome } = await commit(world, {
    proof: proof as { create: ReturnType<typeof toInvitationKey> },
    also: [
      ...also,
      ...replaced.flatMap(buildInvitationRemoval),
      ...createInvitationMails(world, invitation, token),
    ],
  });
  if (outcome === "committed") return { invitation, token };
  throw createUnavailableFailure("It is not known whether the invitation was created.");
};

const assertRoom = async (
  { table }: World,
  account: string | null,
  invited: number,
): Promise<void> => {
  if (account === null) return;
  const members = await Array.fromAsync(paginateQuery(table, { pk: toMembersPartition(account) }));
  if (members.length + invited >= MEMBERS_MAX)
    throw new Failure(
      "LIMIT_REACHED",
      "nothing_charged",
      `The account already has ${MEMBERS_MAX} members and open invitations, the maximum. Remove one first.`,
    );
};

/** The token is stored encrypted until the mail is sent. Empty without an address, or where this service sends no mail. */
const createInvitationMails = (
  world: World,
  { kind, account, id, email }: Invitation,
  token: string,
): readonly OutboxWrite[] => {
  if (kind !== "member" || !account || !email || world.settings.mailFrom === null) return [];
  const secret = encryptSecret(world, account, token);
  return [createMail(world, account, { kind: "invitation", invitation: id, secret })];
};

const isReplacedBy = (open: Invitation, { kind, email, person }: InvitationRequest): boolean =>
  open.kind === kind &&
  (kind === "first" ||
    (person !== undefined && open.person === person) ||
    (email !== undefined && open.email === email));

export const listInvitations = async (
  { table, now }: World,
  account: string | null,
): Promise<readonly Invitation[]> => {
  const items = await Array.fromAsync(paginateQuery(table, { pk: toInvitesPartition(account) }));
  const seconds = toEpochSeconds(now());
  return items.map(readInvitation).filter(({ expires_at }) => expires_at > seconds);
};

/** Undefined when the link was used, withdrawn or replaced, or has expired. */
export const findInvitation = ({ table }: World, token: string): Promise<Invitation | undefined> =>
  findItem(table, toInvitationKey(hashToken(token)), readInvitation);

export const withdrawInvitation = async (world: World, invitation: Invitation): Promise<void> => {
  const { outcome } = await world.table.transact(buildInvitationRemoval(invitation));
  // "refused": it was accepted or withdrawn meanwhile, and its link does not work either.
  if (outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether the invitation was withdrawn. Send the request again.",
    );
};

export type Acceptance = {
  /** The signed-in person who accepts; undefined makes a new person. */
  readonly person?: Person | undefined;
  readonly name: string;
  /** The address that the person's identity provider verified. */
  readonly verifiedEmail?: string | undefined;
  /** The account's new name, on the first visit. */
  readonly accountName?: string | undefined;
  /** More writes for the person: an identity. */
  readonly also?: (person: string) => readonly Write[];
};

export type Accepted = {
  readonly person: string;
  readonly account: string | null;
  readonly token: string;
};

/** Uses an invitation once: makes the person, the membership and a session together, or nothing. */
export const acceptInvitation = async (
  world: World,
  invitation: Invitation,
  { person: known, name, verifiedEmail, accountName, also = () => [] }: Acceptance,
): Promise<Accepted> => {
  const { kind, invitedBy } = invitation;
  const person = invitation.person ?? known?.id ?? world.newId("person");
  if (known && kind === "member") await assertNotMember(world, invitation, person);
  // The inviter has left the account since, so the link is worth nothing.
  if (invitedBy === person) throw createUsedFailure();
  const session = mintSession(world, person);
  const email = verifiedEmail ?? invitation.email;
  const createdAt = world.now().toISOString();
  const isNew = kind !== "return" && known === undefined;
  const { account, writes } =
    kind === "return"
      ? { account: null, writes: [] }
      : buildEntry(world, invitation, person, accountName);
  const { outcome } = await commit(world, {
    proof: session.write,
    also: [
      ...buildInvitationRemoval(invitation),
      isNew
        ? createPerson({ id: person, name, ...(email && { email }), createdAt })
        : { check: toPersonKey(person), where: { id: person } },
      // Only the first visit requires a service without people.
      ...(kind === "first" ? [{ create: FIRST_PERSON }] : isNew ? [{ put: FIRST_PERSON }] : []),
      ...writes,
      ...also(person),
    ],
  });
  if (outcome === "committed") return { person, account, token: session.token };
  if (outcome === "ambiguous")
    throw createUnavailableFailure("It is not known whether the invitation was accepted.");
  throw createUsedFailure();
};

const assertNotMember = async (
  { table }: World,
  { account }: Invitation,
  person: string,
): Promise<void> => {
  if (account !== null && (await table.get(toMembershipKey(account, person))))
    throw new Failure("FORBIDDEN", "nothing_charged", "You are already a member of this account.");
};

export const createUsedFailure = (): Failure =>
  new Failure(
    "NOT_FOUND",
    "nothing_charged",
    "This link was used or replaced, or has expired. Ask for a new one.",
  );

/** Makes the person a member of the invitation's account, or of a new one, which is the operator's own. */
const buildEntry = (
  world: World,
  { kind, account: invitedTo, role, area, monthlyHalves, invitedBy }: Invitation,
  person: string,
  accountName: string | undefined,
): { readonly account: string; readonly writes: readonly Write[] } => {
  const opening = credits(OWN_CREDITS);
  const opened =
    invitedTo === null
      ? buildAccount(world, { name: accountName ?? "My account", plan: "scale", opening })
      : undefined;
  const account = opened?.account ?? (invitedTo as string);
  const member: Member = {
    account,
    person,
    role,
    since: world.now().toISOString(),
    ...(area && { area }),
    ...(monthlyHalves !== undefined && { monthlyHalves }),
  };
  const isOpen = { closedAt: { missing: true } } as const;
  const existing: Write =
    kind === "first" && accountName
      ? { update: toAccountKey(account), set: { name: accountName }, where: isOpen }
      : { check: toAccountKey(account), where: { account, ...isOpen } };
  return {
    account,
    writes: [
      ...(opened?.writes ?? [existing]),
      ...buildMemberWrites(member),
      // The invitation of a removed or lowered inviter ends with the right to invite.
      ...(invitedBy === null ? [] : [checkInviter(account, invitedBy, role)]),
    ],
  };
};

const checkInviter = (account: string, invitedBy: string, role: Role): Write => ({
  check: toMemberKey(account, invitedBy),
  where: { role: { oneOf: ROLES.filter((own) => mayManageRole(own, role)) } },
});
