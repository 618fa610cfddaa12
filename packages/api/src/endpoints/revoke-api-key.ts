import { findKeyById, revokeKey } from "@mailproof/core/accounts/api-keys";
import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { mayManage } from "../schema/api-keys.ts";
import { describe, Id } from "../schema/common.ts";
import * as field from "../schema/fields.ts";

export const revokeApiKey = endpoint({
  id: "revokeApiKey",
  route: "DELETE /v1/api-keys/{id}",
  tag: "Account",
  addition:
    "The contract names the group API keys without its paths: a leaked key is revoked here.",
  summary: "Revoke an API key. It stops working immediately.",
  access: "unrestricted",
  tool: { effect: "destructive" },
  errors: ["NOT_FOUND"],

  path: v.strictObject({ id: describe(Id, "The key's id (`key_id`).") }),
  output: v.object({
    key_id: field.text("The key's id."),
    revoked: describe(v.literal(true), "Always true."),
  }),

  async handle(world, caller, { path }) {
    const key = await findKeyById(world.table, caller.account, path.id);
    // A key that the caller may not see counts as missing.
    if (!key || !mayManage(caller, key.mode))
      throw new Failure("NOT_FOUND", "nothing_charged", "The account has no key with this id.");
    await revokeKey(world.table, key);
    return ok({ key_id: key.id, revoked: true as const });
  },
});
