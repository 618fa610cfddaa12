import { Failure } from "@mailproof/core/lib/failure";
import { listInvitations, withdrawInvitation } from "@mailproof/core/people/invitations";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";
import { assertMayManage } from "../schema/people.ts";

export const deleteInvitation = endpoint({
  id: "deleteInvitation",
  route: "DELETE /v1/invitations/{id}",
  tag: "People",
  addition: "The contract knows keys only; an account's people are managed here.",
  summary: "Withdraw an invitation. Its link stops working immediately.",
  access: "people",
  // Not a tool: agents have keys.
  tool: null,
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The invitation's id.") }),
  output: v.object({
    invitation_id: field.text("The invitation's id."),
    withdrawn: describe(v.literal(true), "Always true."),
  }),

  async handle(world, caller, { path }) {
    const open = await listInvitations(world, caller.account);
    const invitation = open.find(({ id }) => id === path.id);
    if (!invitation)
      throw new Failure(
        "NOT_FOUND",
        "nothing_charged",
        "The account has no open invitation with this id.",
      );
    assertMayManage(caller, invitation.role);
    await withdrawInvitation(world, invitation);
    return ok({ invitation_id: path.id, withdrawn: true as const });
  },
});
