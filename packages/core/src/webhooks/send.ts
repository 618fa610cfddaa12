import { decryptSecret } from "../lib/secret-box.ts";
import type { HttpsOutcome } from "../ports/https.ts";
import type { World } from "../ports/world.ts";
import type { Delivery } from "./items.ts";
import { type DeliveryVerdict, judgeResponse } from "./retry-policy.ts";
import { signHeaders } from "./signature.ts";

/** The URL and the secret that signs the request. Null: unsigned. */
export type DeliveryAddress = { readonly url: string; readonly secret: string | null };

/** The result of one attempt, and the fields that its delivery stores. */
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
  // Never sent unsigned instead: the secret exists to prevent that.
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

/** The encryption key has changed since: a mistake of the operator that may be corrected, so it is retried. */
const createUnreadableSecretResult = ({ log }: World): SendResult => {
  const error = "secret_unreadable";
  log(error, {});
  return {
    verdict: { kind: "failed", earliestMs: 0 },
    fields: { latencyMs: undefined, responseStatus: undefined, error },
  };
};
