import { getOwnerId } from "@mailproof/core/accounts/payer";
import { Failure } from "@mailproof/core/lib/failure";
import { fingerprint } from "@mailproof/core/lib/fingerprint";
import {
  IDEMPOTENCY_KEY_RETENTION_SECONDS,
  type IdempotencyKey,
} from "@mailproof/core/money/claims";
import type { Json } from "@mailproof/core/ports/table";
import type { Headers } from "./authenticate.ts";
import type { Caller, Endpoint } from "./endpoint.ts";
import { withOutcome } from "./http-failure.ts";

const KEY = /^[\x21-\x7e]{1,255}$/;
/** What Postman and others send where nobody chose a value. As a key it would be one key for all requests. */
const PLACEHOLDER = /^(?:<string>|\{\{[\w$.-]{1,100}\}\})$/;

/** The key that a repeat is known by, or null. */
export const readIdempotencyKey = (
  { keyed }: Pick<Endpoint, "keyed">,
  headers: Headers,
): string | null => {
  const sent = headers["idempotency-key"];
  if (!keyed || sent === undefined) return null;
  if (PLACEHOLDER.test(sent))
    throw invalidKey(
      `The Idempotency-Key ${sent} is a placeholder that was not filled in; send a key of your own, or none.`,
    );
  if (KEY.test(sent)) return sent;
  throw invalidKey(
    "The Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.",
  );
};

/**
 * The failure as it is true of a request with an Idempotency-Key. The same request may have come before under this key
 * and been charged, so until the key is looked up no failure may say that nothing was charged. Two kinds say it all the
 * same: a request that can never have been accepted, whoever sends it and when, such as one that is malformed; and
 * failures after the look-up that no repeat can escape, such as a 402. Before the caller is admitted every failure
 * depends on the moment: the key was in force, and the process had time. After that those do that are retryable.
 */
export const adjustForRepeat = (
  failure: Failure,
  { keyed }: Pick<Endpoint, "keyed">,
  headers: Headers,
  isAdmitted: boolean,
): Failure => {
  const mayBeRepeat = keyed === true && isKey(headers["idempotency-key"]);
  const mayHavePassed = !isAdmitted || failure.retryable;
  return mayBeRepeat && mayHavePassed && failure.money === "nothing_charged"
    ? withOutcome(failure, "retry_same_key")
    : failure;
};

const isKey = (sent: string | undefined): boolean =>
  sent !== undefined && KEY.test(sent) && !PLACEHOLDER.test(sent);

const invalidKey = (what: string): Failure =>
  new Failure("INVALID_IDEMPOTENCY_KEY", "nothing_charged", what);

/**
 * This use of the key: whose it is, on which route, and for what. Defaults are filled in before, so a request that
 * leaves one out is the same as one that names it. `former` is what 0.1.0 took for the request, where that was more.
 */
export const keyedBy = (
  route: string,
  caller: Caller,
  key: string | null,
  request: Json,
  former?: Json,
): IdempotencyKey | null =>
  key === null
    ? null
    : {
        owner: getOwnerId(caller),
        route,
        key,
        fingerprint: fingerprint(request),
        ...(former !== undefined && { formerFingerprint: fingerprint(former) }),
        retentionSeconds: IDEMPOTENCY_KEY_RETENTION_SECONDS,
      };
