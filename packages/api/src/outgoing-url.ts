import { REFUSALS, targetOf } from "@mailproof/core/https";
import type { World } from "@mailproof/core/world";
import * as v from "valibot";
import { invalidField } from "./parse.ts";
import { charactersUpTo } from "./schemas.ts";

const URL_LENGTH_MAX = 2_000;

/** An address that a caller wants to be called at. */
export const OutgoingUrl = v.pipe(
  v.string(),
  charactersUpTo(URL_LENGTH_MAX),
  v.check(
    (text) => typeof targetOf(text) !== "string",
    "must be an https address without credentials",
  ),
);

/**
 * Asked before anything is kept or charged, and again by the door at each call. A name that cannot be found just now
 * is no mistake: it may be there by then.
 */
export const assertMayCall = async (
  { https }: Pick<World, "https">,
  field: string,
  url: string,
): Promise<void> => {
  const fault = await https.check(url);
  const refusal = fault && REFUSALS[fault];
  if (refusal !== undefined) throw invalidField(field, refusal);
};
