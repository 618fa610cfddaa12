import { createHash } from "node:crypto";
import * as v from "valibot";
import { Failure } from "../lib/failure.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Item, Json, Key, Table, Write } from "../ports/table.ts";

// Layout. The first use of an Idempotency-Key: its operation, its request and its response. It is written with the
// debit and removed with the refund, so no key refers to a request that was not paid for.
//
//   pk                                       sk     what
//   CLAIM#<owner>#<route>#<hash of the key>  CLAIM  operation, fingerprint; answer: once there is a response

/** One use of a key. The same key with another fingerprint is another request. */
export type IdempotencyKey = {
  readonly owner: string;
  readonly route: string;
  readonly key: string;
  readonly fingerprint: string;
  /** The fingerprint that an earlier release made of the same request, if it differs. */
  readonly formerFingerprint?: string;
  readonly retentionSeconds: number;
};

/** How long an Idempotency-Key is stored. */
export const IDEMPOTENCY_KEY_RETENTION_SECONDS = 30 * 86_400;

const Claim = v.object({
  operation: v.string(),
  openedAt: v.string(),
  fingerprint: v.string(),
  answer: v.optional(v.custom<Json>(() => true)),
});

export type Claim = Readonly<v.InferOutput<typeof Claim>>;

export const toClaimKey = ({ owner, route, key }: Omit<IdempotencyKey, "fingerprint">): Key => ({
  pk: `CLAIM#${owner}#${route}#${createHash("sha256").update(key).digest("base64url")}`,
  sk: "CLAIM",
});

/** With an answer: the operation is complete, and a repeat gets this answer. */
export const createClaim = (
  idempotencyKey: IdempotencyKey,
  operation: ClaimOrigin,
  answer?: Json,
): Write => ({
  create: {
    ...toClaimKey(idempotencyKey),
    operation: operation.id,
    openedAt: operation.openedAt,
    fingerprint: idempotencyKey.fingerprint,
    ...(answer !== undefined && { answer }),
    expires_at: toEpochSeconds(new Date(operation.openedAt)) + idempotencyKey.retentionSeconds,
  },
});

type ClaimOrigin = { readonly id: string; readonly openedAt: string };

export const answerClaim = (claim: Key, operation: string, answer: Json): Write => ({
  update: claim,
  set: { answer },
  where: { operation },
});

export const releaseClaim = (claim: Key, operation: string): Write => ({
  remove: claim,
  where: { operation },
});

const readClaim = (item: Item): Claim => v.parse(Claim, item);

/** The stored claim of this key. Throws if it is for a different request. */
export const findClaim = async (
  table: Table,
  idempotencyKey: IdempotencyKey,
): Promise<Claim | undefined> => {
  const item = await table.get(toClaimKey(idempotencyKey)).catch((cause: unknown) => {
    const what = "The service cannot read the state of this Idempotency-Key right now.";
    throw new Failure("UNAVAILABLE", "retry_same_key", what, { cause });
  });
  const claim = item && readClaim(item);
  if (
    claim &&
    ![idempotencyKey.fingerprint, idempotencyKey.formerFingerprint].includes(claim.fingerprint)
  )
    throw new Failure(
      "IDEMPOTENCY_KEY_CONFLICT",
      "nothing_charged",
      "This Idempotency-Key was used with a different request.",
    );
  return claim;
};
