import { toInvitationUrl } from "@mailproof/api/http/session";
import { InvitedEmail, RoleName } from "@mailproof/api/schema/people";
import { getExistingAccount } from "@mailproof/core/accounts/accounts";
import { invite, type MintedInvitation } from "@mailproof/core/people/invitations";
import type { Member, Person } from "@mailproof/core/people/items";
import {
  findMember,
  findPerson,
  listMembers,
  listMemberships,
  removeMember,
} from "@mailproof/core/people/members";
import { erasePerson, iteratePeople, resetPerson } from "@mailproof/core/people/people";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { definePortable, Name } from "./define-admin.ts";
import { Flag, UsageError } from "./define-command.ts";

const formatMember = (
  id: string,
  person: Pick<Person, "name" | "email"> | undefined,
  member: Member | undefined,
) => ({
  person_id: id,
  name: person?.name ?? null,
  email: person?.email ?? null,
  account_id: member?.account ?? null,
  role: member?.role ?? null,
  since: member?.since ?? null,
});

/** Whoever runs the command sets the URL of the service as the world's `publicUrl`. */
const formatLink = ({ settings }: World, { invitation, token }: MintedInvitation) => ({
  url: toInvitationUrl(settings.publicUrl ?? "http://localhost", token),
  expires_at: new Date(invitation.expires_at * 1000).toISOString(),
});

const listEverybody = async ({ table }: World) => {
  const rows = [];
  for await (const person of iteratePeople(table)) {
    const memberships = await listMemberships(table, person.id);
    for (const member of memberships.length > 0 ? memberships : [undefined])
      rows.push(formatMember(person.id, person, member));
  }
  return rows;
};

export const peopleDefinitions = {
  "admin people list": definePortable({
    usage: "[--account A]",
    options: v.strictObject({ account: v.optional(Name) }),
    async run(world, { account }) {
      if (account === undefined) return { output: await listEverybody(world) };
      await getExistingAccount(world.table, account);
      const members = await listMembers(world.table, account);
      const people = await Promise.all(
        members.map(({ person }) => findPerson(world.table, person)),
      );
      return {
        output: members.map((member, at) => formatMember(member.person, people[at], member)),
      };
    },
  }),

  "admin people invite": definePortable({
    usage: "--account A --role owner|admin|member|viewer [--email E]",
    options: v.strictObject({ account: Name, role: RoleName, email: v.optional(InvitedEmail) }),
    async run(world, { account, role, email }) {
      await getExistingAccount(world.table, account);
      const minted = await invite(world, {
        kind: "member",
        account,
        role,
        invitedBy: null,
        ...(email !== undefined && { email }),
      });
      const { id: invitation_id } = minted.invitation;
      return {
        output: { invitation_id, account_id: account, role, ...formatLink(world, minted) },
      };
    },
  }),

  "admin people reset": definePortable({
    usage: "--person P [--remove-sign-ins]",
    options: v.strictObject({ person: Name, "remove-sign-ins": Flag }),
    async run(world, { person, "remove-sign-ins": removesSignIns }) {
      const minted = await resetPerson(world, person, removesSignIns);
      return { output: { person_id: person, ...formatLink(world, minted) } };
    },
  }),

  "admin people remove": definePortable({
    usage: "--person P --account A",
    options: v.strictObject({ person: Name, account: Name }),
    async run(world, { person, account }) {
      const member = await findMember(world.table, account, person);
      if (!member) throw new UsageError(`The account ${account} has no member ${person}.`);
      await removeMember(world, member);
      return { output: { person_id: person, account_id: account, removed: true } };
    },
  }),

  "admin people erase": definePortable({
    usage: "--person P --yes",
    options: v.strictObject({ person: Name, yes: Flag }),
    async run(world, { person, yes }) {
      const found = await findPerson(world.table, person);
      if (!yes)
        throw new UsageError(
          `This erases ${person} (${found?.name ?? "no such person"}) with every membership, passkey and identity. Add --yes.`,
        );
      const { memberships, signIns } = await erasePerson(world, person);
      return {
        output: {
          person_id: person,
          erased: true,
          memberships_removed: memberships,
          sign_ins_removed: signIns,
        },
      };
    },
  }),
};
