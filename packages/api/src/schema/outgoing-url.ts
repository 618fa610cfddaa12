import { parseTarget, REGISTRATION_FAULTS } from "@mailproof/core/ports/https";
import type { World } from "@mailproof/core/ports/world";
import * as v from "valibot";
import { invalidField } from "../http/parse.ts";
import { limitCharacters } from "./common.ts";

const URL_LENGTH_MAX = 2_000;

/** A name of one label resolves only inside a network. The operator decides whether calls to localhost are allowed. */
const hasPublicName = (text: string): boolean => {
  const target = parseTarget(text);
  if (typeof target === "string") return true;
  const { host } = target;
  return host.includes(".") || host.includes(":") || host === "localhost";
};

export const OutgoingUrl = v.pipe(
  v.string(),
  limitCharacters(URL_LENGTH_MAX),
  v.check(
    (text) => !/^http:\/\/(?:localhost|127\.|\[::1\])/i.test(text),
    "must be an https address: mailproof listen URL sends events to a program on your computer",
  ),
  v.check(
    (text) => /^https:\/\/[^/?#]/i.test(text) && typeof parseTarget(text) !== "string",
    "must be an https address without credentials, such as https://example.com/hook",
  ),
  v.check(hasPublicName, "must have a host name with a dot, such as example.com"),
);

/**
 * Checks the URL before the service stores or charges anything; the HTTPS port checks it again at each call. A name that does
 * not resolve now is accepted, because it may resolve later.
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
