import type { HttpsOutcome } from "../https.ts";
import { unseal } from "../sealed.ts";
import type { World } from "../world.ts";
import type { Delivery } from "./items.ts";
import { type Verdict, verdictOn } from "./policy.ts";
import { headersOf } from "./signature.ts";

/** Where it goes, and whose secret signs it. Null: unsigned. */
export type Address = { readonly url: string; readonly secret: string | null };

/** One try: what it means, and what its delivery remembers of it. */
export type Tried = {
  readonly verdict: Verdict;
  readonly facts: Pick<Delivery, "latencyMs" | "responseStatus" | "error">;
};

export const sendOnce = async (
  world: World,
  { url, secret: sealed }: Address,
  { owner, event: id, body }: Pick<Delivery, "owner" | "event" | "body">,
): Promise<Tried> => {
  const secret = sealed === null ? null : unseal(world, owner, sealed);
  // An unsigned message in the place of a signed one is what the secret is there to prevent.
  if (secret === undefined) return unreadable(world);
  const at = world.now();
  const outcome = await world.https.call({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      "user-agent": `mailproof/${world.settings.version}`,
      ...headersOf({ id, body, at }, secret),
    },
    body,
  });
  const now = world.now();
  const facts = { latencyMs: now.getTime() - at.getTime(), ...factsOf(outcome) };
  return { verdict: verdictOn(outcome, now), facts };
};

const factsOf = (outcome: HttpsOutcome): Pick<Tried["facts"], "responseStatus" | "error"> => {
  if (outcome.kind === "failed") return { responseStatus: undefined, error: outcome.why };
  const { status } = outcome;
  const isFine = status >= 200 && status < 300;
  return { responseStatus: status, error: isFine ? undefined : "status" };
};

/** The key of the settings is another one since: an operator's mistake, which may pass. */
const unreadable = ({ log }: World): Tried => {
  const error = "secret_unreadable";
  log(error, {});
  return {
    verdict: { kind: "failed", earliestMs: 0 },
    facts: { latencyMs: undefined, responseStatus: undefined, error },
  };
};
