import { Failure } from "@mailproof/core/lib/failure";
import { fingerprint } from "@mailproof/core/lib/fingerprint";
import {
  IDEMPOTENCY_KEY_RETENTION_SECONDS,
  type IdempotencyKey,
} from "@mailproof/core/money/idempotency-claims";
import { getOwnerId } from "@mailproof/core/money/payer";
import type { PaidOperation } from "@mailproof/core/money/reasons";
import type { Json } from "@mailproof/core/ports/table";
import type { Headers } from "./authenticate.ts";
import type { Caller, Endpoint } from "./endpoint.ts";
import { withOutcome } from "./http-failure.ts";

export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

export const readIdempotencyKey = (
  { keyed }: Pick<Endpoint, "keyed">,
  headers: Headers,
): string | null => {
  const sent = headers["idempotency-key"];
  if (!keyed || sent === undefined) return null;
  if (IDEMPOTENCY_KEY.test(sent)) return sent;
  throw new Failure(
    "INVALID_IDEMPOTENCY_KEY",
    "nothing_charged",
    "The Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.",
  );
};

/**
 * Adjusts the failure of a request with an Idempotency-Key. An earlier request with this key may have been charged, so before
 * the look-up of the key no failure may report that nothing was charged. Two kinds are exempt: a request that can never have
 * been accepted, such as a malformed one; and a failure after the look-up that every repeat meets too, such as a 402. Before
 * the caller is admitted, every failure may be temporary: the API key had the scope, or the process had capacity. After that
 * only the retryable failures are. A 401 reports on this request alone: no retry with the same Idempotency-Key helps a wrong
 * API key.
 */
export const adjustForRepeat = (
  failure: Failure,
  { keyed }: Pick<Endpoint, "keyed">,
  headers: Headers,
  isAdmitted: boolean,
): Failure => {
  const mayBeRepeat = keyed === true && isKey(headers["idempotency-key"]);
  const mayHavePassed = !isAdmitted ? failure.code !== "UNAUTHORIZED" : failure.retryable;
  return mayBeRepeat && mayHavePassed && failure.money === "nothing_charged"
    ? withOutcome(failure, "retry_same_key")
    : failure;
};

const isKey = (sent: string | undefined): boolean =>
  sent !== undefined && IDEMPOTENCY_KEY.test(sent);

/**
 * Identifies this use of the key by the account, the paid operation and the request. The request contains its defaults, so a
 * request that omits a default equals a request that states it.
 */
export const keyedBy = (
  action: PaidOperation,
  caller: Caller,
  key: string | null,
  request: Json,
): IdempotencyKey | null =>
  key === null
    ? null
    : {
        owner: getOwnerId(caller),
        action,
        key,
        fingerprint: fingerprint(request),
        retentionSeconds: IDEMPOTENCY_KEY_RETENTION_SECONDS,
      };
