import { decryptSecret } from "../lib/secret-box.ts";
import type { HttpsOutcome } from "../ports/https.ts";
import type { World } from "../ports/world.ts";
import type { Delivery } from "./items.ts";
import { type DeliveryVerdict, judgeResponse } from "./retry-policy.ts";
import { signHeaders } from "./signature.ts";

/** Where it goes, and whose secret signs it. Null: unsigned. */
export type DeliveryAddress = { readonly url: string; readonly secret: string | null };

/** One try: what it means, and what its delivery remembers of it. */
export type SendResult = {
  readonly verdict: DeliveryVerdict;
  readonly fields: Pick<Delivery, "latencyMs" | "responseStatus" | "error">;
};

export const sendDelivery = async (
  world: World,
  { url, secret: encrypted }: DeliveryAddress,
  { owner, event: id, body }: Pick<Delivery, "owner" | "event" | "body">,
): Promise<SendResult> => {
  const secret = encrypted === null ? null : decryptSecret(world, owner, encrypted);
  // An unsigned message in the place of a signed one is what the secret is there to prevent.
  if (secret === undefined) return createUnreadableSecretResult(world);
  const at = world.now();
  const outcome = await world.https.call({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      "user-agent": `mailproof/${world.settings.version}`,
      ...signHeaders({ id, body, at }, secret),
    },
    body,
  });
  const now = world.now();
  const fields = { latencyMs: now.getTime() - at.getTime(), ...toDeliveryFields(outcome) };
  return { verdict: judgeResponse(outcome, now), fields };
};

const toDeliveryFields = (
  outcome: HttpsOutcome,
): Pick<SendResult["fields"], "responseStatus" | "error"> => {
  if (outcome.kind === "failed") return { responseStatus: undefined, error: outcome.why };
  const { status } = outcome;
  const isSuccess = status >= 200 && status < 300;
  return { responseStatus: status, error: isSuccess ? undefined : "status" };
};

/** The key of the settings is another one since: an operator's mistake, which may pass. */
const createUnreadableSecretResult = ({ log }: World): SendResult => {
  const error = "secret_unreadable";
  log(error, {});
  return {
    verdict: { kind: "failed", earliestMs: 0 },
    fields: { latencyMs: undefined, responseStatus: undefined, error },
  };
};
