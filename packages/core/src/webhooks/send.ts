import { decryptSecret } from "../lib/secret-box.ts";
import type { HttpsOutcome } from "../ports/https.ts";
import type { World } from "../ports/world.ts";
import type { Delivery } from "./items.ts";
import { type DeliveryVerdict, judgeResponse } from "./retry-policy.ts";
import { signHeaders } from "./signature.ts";

/** The URL, and the secret that signs the request; null when requests are unsigned. */
export type DeliveryAddress = { readonly url: string; readonly secret: string | null };

export type SendResult = {
  readonly verdict: DeliveryVerdict;
  readonly fields: Pick<Delivery, "latencyMs" | "responseStatus" | "responseBody" | "error">;
};

export const sendDelivery = async (
  world: World,
  { url, secret: encrypted }: DeliveryAddress,
  { owner, event: id, body }: Pick<Delivery, "owner" | "event" | "body">,
): Promise<SendResult> => {
  const secret = encrypted === null ? null : decryptSecret(world, owner, encrypted);
  // An unreadable secret must not lead to an unsigned request.
  if (secret === undefined) return createUnreadableSecretResult(world);
  const at = world.now();
  const signed = signHeaders({ id, body, at }, secret);
  const outcome = await world.https.call({
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      "user-agent": `mailproof/${world.settings.version}`,
      ...signed,
    },
    body,
  });
  const now = world.now();
  const fields = {
    latencyMs: now.getTime() - at.getTime(),
    ...toDeliveryFields(outcome, [secret, signed["webhook-signature"]]),
  };
  return { verdict: judgeResponse(outcome, now), fields };
};

const toDeliveryFields = (
  outcome: HttpsOutcome,
  secrets: readonly (string | null | undefined)[],
): Pick<SendResult["fields"], "responseStatus" | "responseBody" | "error"> => {
  if (outcome.kind === "failed")
    return { responseStatus: undefined, responseBody: undefined, error: outcome.why };
  const { status, body } = outcome;
  const isSuccess = status >= 200 && status < 300;
  return {
    responseStatus: status,
    responseBody: truncateResponse(body, secrets),
    error: isSuccess ? undefined : "status",
  };
};

/** Enough for an error message, and short enough for a log of a hundred deliveries. */
const RESPONSE_LENGTH_MAX = 500;

/** Returns the beginning of a response without secrets: a server may print its request, and the log must not contain a secret. */
const truncateResponse = (
  body: string,
  secrets: readonly (string | null | undefined)[],
): string | undefined => {
  let text = body;
  for (const secret of secrets) if (secret) text = text.replaceAll(secret, "[removed]");
  return text.slice(0, RESPONSE_LENGTH_MAX).toWellFormed() || undefined;
};

/** The operator changed the encryption key and may restore it, so the delivery is retried. */
const createUnreadableSecretResult = ({ log }: World): SendResult => {
  const error = "secret_unreadable";
  log(error, {});
  return {
    verdict: { kind: "failed", earliestMs: 0 },
    fields: {
      latencyMs: undefined,
      responseStatus: undefined,
      responseBody: undefined,
      error,
    },
  };
};
