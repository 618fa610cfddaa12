import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { findItem, type Table, type Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { listInvitations, withdrawInvitation } from "./invitations.ts";
import {
  countOwners,
  MEMBERSHIP,
  type Member,
  type Person,
  readMember,
  readPerson,
  toMemberKey,
  toMembershipKey,
  toMembersPartition,
  toPersonKey,
  toPersonPartition,
} from "./items.ts";
import { isLimited, mayManageRole, type Role } from "./roles.ts";

export const findMember = (
  table: Table,
  account: string,
  person: string,
): Promise<Member | undefined> => findItem(table, toMemberKey(account, person), readMember);

export const listMembers = async (table: Table, account: string): Promise<readonly Member[]> => {
  const items = await Array.fromAsync(paginateQuery(table, { pk: toMembersPartition(account) }));
  return items.map(readMember);
};

/** The person's memberships: the accounts to switch between. */
export const listMemberships = async (table: Table, person: string): Promise<readonly Member[]> => {
  const pk = toPersonPartition(person);
  const items = await Array.fromAsync(paginateQuery(table, { pk, sk: { prefix: MEMBERSHIP } }));
  return items.map(readMember);
};

export const findPerson = (table: Table, person: string): Promise<Person | undefined> =>
  findItem(table, toPersonKey(person), readPerson);

/** The member who acts, in the role that admitted the request. Undefined: the operator. */
export type Actor = Pick<Member, "role"> & { readonly id: string };

export type MemberChange = {
  readonly role: Role;
  readonly area: Member["area"] | undefined;
  readonly monthlyHalves: Member["monthlyHalves"] | undefined;
};

/** Replaces role and limits. The member must sign in again for this account. Throws for the last owner. */
export const changeMember = async (
  world: World,
  member: Member,
  { role, area, monthlyHalves }: MemberChange,
  by?: Actor,
): Promise<Member> => {
  const changedAt = world.now().toISOString();
  const set = { role, area, monthlyHalves, changedAt };
  // Nobody takes a lost role back by a request that was admitted before.
  const where = { role: by?.id === member.person ? by.role : member.role };
  const owners = (role === "owner" ? 1 : 0) - (member.role === "owner" ? 1 : 0);
  const last = owners === 0 ? null : countOwners(member.account, owners as 1 | -1);
  await write(world, member, last, [
    { update: toMemberKey(member.account, member.person), set, where },
    { update: toMembershipKey(member.account, member.person), set, where },
    ...(last ? [last] : []),
    ...checkActor(member, by),
  ]);
  const changed = { ...member, ...set };
  await withdrawInvitationsOf(
    world,
    member,
    (invited) => !isLimited(changed) && mayManageRole(role, invited),
  );
  return changed;
};

/** Ends the membership. The person and the other memberships stay. Throws for the last owner. */
export const removeMember = async (world: World, member: Member, by?: Actor): Promise<void> => {
  const { account, person, role } = member;
  const last = role === "owner" ? countOwners(account, -1) : null;
  await write(world, member, last, [
    { remove: toMemberKey(account, person), where: { role } },
    { remove: toMembershipKey(account, person), where: { role } },
    ...(last ? [last] : []),
    ...checkActor(member, by),
  ]);
  await withdrawInvitationsOf(world, member, () => false);
};

/** Those that the inviter could not send any more. They must not come back with the inviter's rights. */
const withdrawInvitationsOf = async (
  world: World,
  { account, person }: Member,
  mayInvite: (role: Role) => boolean,
): Promise<void> => {
  for (const open of await listInvitations(world, account))
    if (open.invitedBy === person && !mayInvite(open.role)) await withdrawInvitation(world, open);
};

const checkActor = ({ account, person }: Member, by: Actor | undefined): Write[] =>
  by === undefined || by.id === person
    ? []
    : [{ check: toMemberKey(account, by.id), where: { role: by.role } }];

const write = async (
  world: World,
  { account }: Member,
  last: Write | null,
  writes: readonly Write[],
): Promise<void> => {
  const result = await commit(world, { proof: null, also: writes });
  if (result.outcome === "committed") return;
  if (result.outcome === "ambiguous")
    throw createUnavailableFailure("It is not known whether the member was changed.");
  if (last && result.refusedWrite === last) throw createLastOwnerFailure(account);
  throw createUnavailableFailure("The member changed meanwhile. Read the members again.");
};

export const createLastOwnerFailure = (account: string): Failure =>
  new Failure(
    "FORBIDDEN",
    "nothing_charged",
    `The account ${account} needs an owner. Make another member an owner first.`,
  );
