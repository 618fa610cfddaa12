import type { ApiKey } from "@mailproof/core/access/items";
import { Failure } from "@mailproof/core/failure";
import * as v from "valibot";
import type { Caller } from "../http/endpoint.ts";
import { Mode, ScopeName } from "./common.ts";

/** A key as its owner sees it: everything but the key. */
export const KeyFacts = v.object({
  key_id: v.string(),
  name: v.string(),
  mode: Mode,
  scopes: v.nullable(v.pipe(v.array(ScopeName), v.readonly())),
  hint: v.string(),
  created_at: v.string(),
});

export const toKeyFacts = (key: ApiKey): v.InferOutput<typeof KeyFacts> => ({
  key_id: key.id,
  name: key.name,
  mode: key.mode,
  scopes: key.scopes,
  hint: key.hint,
  created_at: key.createdAt,
});

/** A test key that could mint or see live keys would be a live key with one more step. */
export const mayManage = (caller: Caller, mode: ApiKey["mode"]): boolean =>
  caller.mode === "live" || mode === "test";

export const assertMayManage = (caller: Caller, mode: ApiKey["mode"]): void => {
  if (mayManage(caller, mode)) return;
  throw new Failure("FORBIDDEN", "nothing_charged", "A test key manages test keys only.");
};
