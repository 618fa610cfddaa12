import { removeMember as endMembership, findMember } from "@mailproof/core/people/members";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { assertMayManage, noSuchMember, toActor } from "../schema/people.ts";

export const removeMember = endpoint({
  id: "removeMember",
  route: "DELETE /v1/members/{id}",
  tag: "People",
  addition: "The contract knows keys only; an account's people are managed here.",
  summary: "Remove a member, or leave the account. It takes effect immediately.",
  access: "person",
  // Not a tool: agents have keys.
  tool: null,
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The person's id.") }),
  output: v.object({
    person_id: field.text("The person's id."),
    removed: describe(v.literal(true), "Always true."),
  }),

  async handle(world, caller, { path }) {
    const member = await findMember(world.table, caller.account, path.id);
    if (!member) throw noSuchMember();
    if (path.id !== caller.person?.id) assertMayManage(caller, member.role);
    await endMembership(world, member, toActor(caller));
    return ok({ person_id: path.id, removed: true as const });
  },
});
