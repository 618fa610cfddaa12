import { listInvitations } from "@mailproof/core/people/invitations";
import { findPerson, listMembers as membersOf } from "@mailproof/core/people/members";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe } from "../schema/common.ts";
import {
  InvitationSummary,
  MemberSummary,
  toInvitationSummary,
  toMemberSummary,
} from "../schema/people.ts";

export const listMembers = endpoint({
  id: "listMembers",
  route: "GET /v1/members",
  tag: "People",
  addition: "The contract knows keys only; an account's people are managed here.",
  summary: "List the account's members and open invitations.",
  access: "people",
  // Not a tool: agents have keys.
  tool: null,

  output: v.object({
    members: describe(v.array(MemberSummary), "The members, oldest first."),
    invitations: describe(v.array(InvitationSummary), "The invitations that nobody has accepted."),
  }),

  async handle(world, { account }) {
    const [members, invitations] = await Promise.all([
      membersOf(world.table, account),
      listInvitations(world, account),
    ]);
    const summaries = await Promise.all(
      members.map(async (member) =>
        toMemberSummary(member, await findPerson(world.table, member.person)),
      ),
    );
    return ok({
      members: summaries.toSorted((a, b) => (a.since < b.since ? -1 : 1)),
      invitations: invitations.map(toInvitationSummary),
    });
  },
});
