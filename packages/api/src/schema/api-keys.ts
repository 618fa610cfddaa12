import type { ApiKey } from "@mailproof/core/accounts/api-key-items";
import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { describe, Mode, ScopeName } from "./common.ts";

/** A key as its owner sees it: everything but the key. */
export const KeySummary = v.object({
  key_id: describe(v.string(), "The key's id. It is needed to revoke the key."),
  name: describe(v.string(), "The key's name."),
  mode: describe(Mode, "Whether the key is live or test."),
  scopes: describe(
    v.nullable(v.pipe(v.array(ScopeName), v.readonly())),
    "Scopes that the key is limited to. Null when it is unrestricted.",
  ),
  hint: describe(v.string(), "The first and last characters of the key."),
  created_at: describe(v.string(), "When it was created, ISO 8601."),
});

export const toKeySummary = (key: ApiKey): v.InferOutput<typeof KeySummary> => ({
  key_id: key.id,
  name: key.name,
  mode: key.mode,
  scopes: key.scopes,
  hint: key.hint,
  created_at: key.createdAt,
});

/** A test key that could create or see live keys would be a live key with one more step. */
export const mayManage = (caller: Caller, mode: ApiKey["mode"]): boolean =>
  caller.mode === "live" || mode === "test";

export const assertMayManage = (caller: Caller, mode: ApiKey["mode"]): void => {
  if (mayManage(caller, mode)) return;
  throw new Failure("FORBIDDEN", "nothing_charged", "A test key manages test keys only.");
};
