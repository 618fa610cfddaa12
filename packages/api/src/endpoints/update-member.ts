import { changeMember, findMember, findPerson } from "@mailproof/core/people/members";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import { toLimits } from "../schema/limits.ts";
import {
  assertMayGrant,
  LimitFields,
  MemberSummary,
  noSuchMember,
  RoleField,
  toActor,
  toMemberSummary,
} from "../schema/people.ts";

export const updateMember = endpoint({
  id: "updateMember",
  route: "PUT /v1/members/{id}",
  tag: "People",
  addition: "The contract knows keys only; an account's people are managed here.",
  summary: "Set a member's role and limits. The member must sign in again.",
  access: "people",
  freshSignIn: true,
  // Not a tool: agents have keys.
  tool: null,
  errors: ["NOT_FOUND", "PAYLOAD_TOO_LARGE"],

  path: v.strictObject({ id: describe(Id, "The person's id.") }),
  body: v.strictObject({ ...RoleField, ...LimitFields }),
  output: MemberSummary,

  async handle(world, caller, { path, body }) {
    const member = await findMember(world.table, caller.account, path.id);
    if (!member) throw noSuchMember();
    assertMayGrant(caller, member.role, body.role);
    const { area, monthlyHalves } = toLimits(body);
    const change = { role: body.role, area, monthlyHalves };
    const changed = await changeMember(world, member, change, toActor(caller));
    return ok(toMemberSummary(changed, await findPerson(world.table, path.id)));
  },
});
