import { createHash } from "node:crypto";
import * as v from "valibot";
import { Failure } from "../lib/failure.ts";
import { paginateQuery } from "../lib/paginate-query.ts";
import { toEpochSeconds } from "../lib/time.ts";
import type { Item, Json, Key, Table, Write } from "../ports/table.ts";

// Layout. The first use of an Idempotency-Key: its operation, its request and its response. The debit's transaction writes the
// claim and the refund's removes it, so no key refers to an unpaid request.
//
//   pk                                        sk     list_pk            content
//   CLAIM#<owner>#<action>#<hash of the key>  CLAIM  SUBJECT#<address>  operation, fingerprint; answer: once there is a
//                                                                       response. <address>: the keyed hash of the
//                                                                       address in the answer

/** One use of a key. The same key with another fingerprint is another request. */
export type IdempotencyKey = {
  readonly owner: string;
  readonly action: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly retentionSeconds: number;
};

export const IDEMPOTENCY_KEY_RETENTION_SECONDS = 30 * 86_400;

const Claim = v.object({
  operation: v.string(),
  openedAt: v.string(),
  fingerprint: v.string(),
  answer: v.optional(v.custom<Json>(() => true)),
});

export type Claim = Readonly<v.InferOutput<typeof Claim>>;

export const toClaimKey = ({ owner, action, key }: Omit<IdempotencyKey, "fingerprint">): Key => ({
  pk: `CLAIM#${owner}#${action}#${createHash("sha256").update(key).digest("base64url")}`,
  sk: "CLAIM",
});

/** With an answer, the operation is complete and a repeat gets this answer. */
export const createClaim = (
  idempotencyKey: IdempotencyKey,
  operation: ClaimOrigin,
  answer?: Json,
  subject?: string,
): Write => ({
  create: {
    ...toClaimKey(idempotencyKey),
    operation: operation.id,
    openedAt: operation.openedAt,
    fingerprint: idempotencyKey.fingerprint,
    ...(answer !== undefined && { answer }),
    ...listBySubject(operation.id, subject),
    expires_at: toEpochSeconds(new Date(operation.openedAt)) + idempotencyKey.retentionSeconds,
  },
});

type ClaimOrigin = { readonly id: string; readonly openedAt: string };

export const answerClaim = (
  claim: Key,
  operation: string,
  answer: Json,
  subject?: string,
): Write => ({
  update: claim,
  set: { answer, ...listBySubject(operation, subject) },
  where: { operation },
});

const toSubjectPartition = (subject: string): string => `SUBJECT#${subject}`;

/** `subject`: the hash of the address in the answer. Absent when the answer shows no address. */
const listBySubject = (operation: string, subject: string | undefined) =>
  subject !== undefined && { list_pk: toSubjectPartition(subject), list_sk: operation };

/** Replaces an answer whose address was erased. The key stays used: a repeat is not charged. */
const ERASED_ANSWER = { erased: true } as const;

export const isErasedAnswer = (answer: Json): boolean =>
  typeof answer === "object" && answer !== null && "erased" in answer;

/** Erases every answer that shows the address with this hash, and returns the number of erased answers. */
export const eraseAnswers = async (table: Table, subject: string): Promise<number> => {
  let count = 0;
  const query = { index: "list", pk: toSubjectPartition(subject) } as const;
  for await (const item of paginateQuery(table, query)) {
    const { pk, sk } = item;
    const { outcome } = await table.write({
      update: { pk, sk },
      set: { answer: ERASED_ANSWER, list_pk: undefined, list_sk: undefined },
      where: { operation: readClaim(item).operation },
    });
    if (outcome === "ambiguous") throw new Error("unknown whether an answer was erased");
    if (outcome === "committed") count += 1;
  }
  return count;
};

export const releaseClaim = (claim: Key, operation: string): Write => ({
  remove: claim,
  where: { operation },
});

const readClaim = (item: Item): Claim => v.parse(Claim, item);

/** Returns the stored claim of this key. Throws when the claim belongs to a different request. */
export const findClaim = async (
  table: Table,
  idempotencyKey: IdempotencyKey,
): Promise<Claim | undefined> => {
  const item = await table.get(toClaimKey(idempotencyKey)).catch((cause: unknown) => {
    const what = "The service cannot read the state of this Idempotency-Key right now.";
    throw new Failure("UNAVAILABLE", "retry_same_key", what, { cause });
  });
  const claim = item && readClaim(item);
  if (claim && claim.fingerprint !== idempotencyKey.fingerprint)
    throw new Failure(
      "IDEMPOTENCY_KEY_CONFLICT",
      "nothing_charged",
      "This Idempotency-Key was used with a different request.",
    );
  return claim;
};
