import { listKeys, readLastUses } from "@mailproof/core/accounts/api-keys";
import * as v from "valibot";
import { endpoint, ok } from "../http/endpoint.ts";
import { ListedKey, mayManage, toKeySummary } from "../schema/api-keys.ts";
import { describe } from "../schema/common.ts";

export const listApiKeys = endpoint({
  id: "listApiKeys",
  route: "GET /v1/api-keys",
  tag: "Account",
  addition: "The contract names the group API keys without its paths.",
  summary: "List the account's API keys, newest first. The keys themselves are not shown.",
  access: "unrestricted",

  output: v.object({ api_keys: describe(v.array(ListedKey), "The keys, newest first.") }),

  async handle(world, caller) {
    const keys = await listKeys(world.table, caller.account);
    const shown = keys.filter(({ mode }) => mayManage(caller, mode));
    const uses = await readLastUses(world.table, shown);
    return ok({
      api_keys: shown.map((key, at) => ({
        ...toKeySummary(key),
        last_used_at: uses[at] ?? null,
      })),
    });
  },
});
