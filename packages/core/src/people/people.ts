import { createUnavailableFailure, Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import type { Table, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import {
  invite,
  listInvitations,
  type MintedInvitation,
  withdrawInvitation,
} from "./invitations.ts";
import {
  buildIdentityRemoval,
  buildPasskeyRemoval,
  FIRST_PERSON,
  IDENTITY,
  PASSKEY,
  PEOPLE,
  type Person,
  readPerson,
  toMemberKey,
  toMembershipKey,
  toOwnersKey,
  toPersonKey,
  toPersonPartition,
} from "./items.ts";
import {
  createLastOwnerFailure,
  findPerson,
  listMembers,
  listMemberships,
  removeMember,
} from "./members.ts";
import { buildSessionCount, buildSessionsEnd } from "./sessions.ts";

// What an operator does about people. Each function may be repeated after a crash, and then continues.

/** True until somebody has accepted an invitation. */
export const hasNobody = async ({ get }: Pick<Table, "get">): Promise<boolean> =>
  (await get(FIRST_PERSON)) === undefined;

/** Oldest first. */
export async function* iteratePeople(table: Table): AsyncGenerator<Person> {
  for await (const item of paginateQuery(table, { index: "list", pk: PEOPLE }))
    yield readPerson(item);
}

/** Ends the person's sessions and makes a link that signs in once. Passkeys and identities stay unless they may be in other hands. */
export const resetPerson = async (
  world: World,
  person: string,
  removesSignIns: boolean,
): Promise<MintedInvitation> => {
  await assertExists(world.table, person);
  if (removesSignIns) await removeSignIns(world, person);
  await write(world, [buildSessionsEnd(world, person)]);
  return invite(world, { kind: "return", account: null, role: "viewer", invitedBy: null, person });
};

/** Removes the person with every membership and way to sign in. Throws for the last owner of an account. */
export const erasePerson = async (world: World, person: string) => {
  const memberships = await listMemberships(world.table, person);
  if (memberships.length === 0) await assertExists(world.table, person);
  // The owner's memberships first, because only these may be refused.
  const owned = memberships.filter(({ role }) => role === "owner");
  for (const { account } of owned) await assertOtherOwner(world.table, account);
  for (const member of [...owned, ...memberships.filter((one) => !owned.includes(one))])
    await removeMember(world, member);
  const signIns = await removeSignIns(world, person);
  for (const open of await listInvitations(world, null))
    if (open.person === person) await withdrawInvitation(world, open);
  // A session without its person is refused.
  const { update: count } = buildSessionCount(world, person);
  for (const remove of [toPersonKey(person), count]) await write(world, [{ remove }]);
  // What the person added meanwhile. Nothing is added to a person who is gone.
  for (const member of await listMemberships(world.table, person))
    await removeMember(world, member);
  await removeSignIns(world, person);
  await world.table.scrub?.();
  return { memberships: memberships.length, signIns };
};

/** Before the first change: an erasure that a second account refuses must leave the first alone. */
const assertOtherOwner = async (table: Table, account: string): Promise<void> => {
  if ((await table.get(toOwnersKey(account)))?.["owners"] === 1)
    throw createLastOwnerFailure(account);
};

const assertExists = async (table: Table, person: string): Promise<void> => {
  if (await findPerson(table, person)) return;
  throw new Failure("NOT_FOUND", "nothing_charged", `No person ${person}.`);
};

const removeSignIns = async (world: World, person: string): Promise<number> => {
  let removed = 0;
  const remove = async (prefix: string, build: (id: string) => readonly Write[]) => {
    const mirrors = paginateQuery(world.table, {
      pk: toPersonPartition(person),
      sk: { prefix },
    });
    for await (const { sk } of mirrors) {
      await write(world, build(sk.slice(prefix.length)));
      removed += 1;
    }
  };
  await remove(PASSKEY, (id) => buildPasskeyRemoval({ id, person }));
  await remove(IDENTITY, (hash) => buildIdentityRemoval({ hash, person }));
  return removed;
};

/** Removes every member and invitation of a closed account, also the last owner. Nobody can join it any more. */
export const removePeople = async (world: World, account: string): Promise<number> => {
  const members = await listMembers(world.table, account);
  for (const { person } of members)
    await write(world, [
      { remove: toMemberKey(account, person) },
      { remove: toMembershipKey(account, person) },
    ]);
  await write(world, [{ remove: toOwnersKey(account) }]);
  for (const open of await listInvitations(world, account)) await withdrawInvitation(world, open);
  return members.length;
};

/** "refused": the item is gone, because somebody else removed it. */
const write = async (world: World, writes: readonly Write[]): Promise<void> => {
  const { outcome } = await commit(world, { proof: null, also: writes });
  if (outcome === "ambiguous")
    throw createUnavailableFailure(
      "It is not known whether everything was removed. Send the request again.",
    );
};
