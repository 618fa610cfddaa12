import type { ApiKey } from "@mailproof/core/accounts/api-key-items";
import { Failure } from "@mailproof/core/lib/failure";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { describe, Mode, ScopeName } from "./common.ts";
import * as field from "./fields.ts";

export const KeySummary = v.object({
  key_id: field.text("The key's id. It is needed to revoke the key."),
  name: field.text("The key's name."),
  mode: describe(Mode, "Whether the key is live or test."),
  scopes: describe(
    v.nullable(v.pipe(v.array(ScopeName), v.readonly())),
    "Scopes that the key is limited to. Null when it is unrestricted.",
  ),
  hint: field.text("The first and last characters of the key."),
  created_at: field.text("When it was created, ISO 8601."),
  expires_at: field.textOrNull("When the key expires, ISO 8601. Null when it does not expire."),
  networks: describe(
    v.nullable(v.pipe(v.array(v.string()), v.readonly())),
    "Address blocks that the key is limited to, in CIDR notation. Null when it is accepted from any address.",
  ),
  public: describe(
    v.nullable(
      v.object({
        origins: describe(
          v.pipe(v.array(v.string()), v.readonly()),
          "The origins of the pages that have the key.",
        ),
        daily_limit: field.integer("The most verifications of a day (UTC)."),
      }),
    ),
    "Where and how often a public key may be used. Null when the key is secret.",
  ),
});

export const ListedKey = v.object({
  ...KeySummary.entries,
  last_used_at: field.textOrNull(
    "When the key was last used, ISO 8601, up to an hour earlier than its last use. Null when it was never used.",
  ),
});

export const toKeySummary = (key: ApiKey): v.InferOutput<typeof KeySummary> => ({
  key_id: key.id,
  name: key.name,
  mode: key.mode,
  scopes: key.scopes,
  hint: key.hint,
  created_at: key.createdAt,
  expires_at: key.expiresAt ?? null,
  networks: key.networks ?? null,
  public: key.publicUse
    ? { origins: key.publicUse.origins, daily_limit: key.publicUse.dailyMax }
    : null,
});

/** A test key that could create or see live keys would be worth a live key. */
export const mayManage = (caller: Caller, mode: ApiKey["mode"]): boolean =>
  caller.mode === "live" || mode === "test";

export const assertMayManage = (caller: Caller, mode: ApiKey["mode"]): void => {
  if (mayManage(caller, mode)) return;
  throw new Failure("FORBIDDEN", "nothing_charged", "A test key manages test keys only.");
};
