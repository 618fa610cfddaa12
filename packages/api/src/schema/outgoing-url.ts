import { parseTarget, REGISTRATION_FAULTS } from "@mailproof/core/ports/https";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { invalidField } from "../http/parse.ts";
import { limitCharacters } from "./common.ts";

const URL_LENGTH_MAX = 2_000;

/** A name of one label is known inside a network at most. Who may call localhost, the operator says. */
const hasPublicName = (text: string): boolean => {
  const target = parseTarget(text);
  if (typeof target === "string") return true;
  const { host } = target;
  return host.includes(".") || host.includes(":") || host === "localhost";
};

/** An address that a caller wants to be called at. */
export const OutgoingUrl = v.pipe(
  v.string(),
  limitCharacters(URL_LENGTH_MAX),
  v.check(
    (text) => /^https:\/\/[^/?#]/i.test(text) && typeof parseTarget(text) !== "string",
    "must be an https address without credentials, such as https://example.com/hook",
  ),
  v.check(hasPublicName, "must have a host name with a dot, such as example.com"),
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
  const refusal = fault && REGISTRATION_FAULTS[fault];
  if (refusal !== undefined) throw invalidField(field, refusal);
};
