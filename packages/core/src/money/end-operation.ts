import type { Create, Json, Table, TransactResult, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { commit } from "../runtime/commit.ts";
import { answerClaim, releaseClaim } from "./idempotency-claims.ts";
import { createEndEntry, type LedgerEntry } from "./items.ts";
import { move } from "./ledger.ts";
import type { MovedAmounts } from "./moves.ts";
import { type Operation, toOperationKey } from "./operation-items.ts";
import { findPaidOperation, type RefundReason } from "./reasons.ts";

/** `lost`: the lease expired and another process took the work over. `unknown`: the reply was lost. */
export type EndResult = "ended" | "lost" | "unknown";

export const settle = (
  world: World,
  operation: Operation,
  { answer, subject, moved = { settle: operation.amount }, releasedAs, also = [] }: SettledWork,
): Promise<EndResult> => {
  const { claim, id, amount, reason } = operation;
  const claimWrites = claim ? [answerClaim(claim, id, answer, subject)] : [];
  const end = releasedAs
    ? { moved: { release: amount }, reason: releasedAs, paidFor: findPaidOperation(reason) }
    : { moved, reason };
  return endOperation(world, operation, end, [...claimWrites, ...also]);
};

type SettledWork = {
  readonly answer: Json;
  /** The hash of the address in the answer. */
  readonly subject?: string | undefined;
  readonly moved?: MovedAmounts;
  /** The reason that all held credits return. Absent when they do not return. */
  readonly releasedAs?: RefundReason | undefined;
  readonly also?: readonly Write[];
};

export const release = (
  world: World,
  operation: Operation,
  also: readonly Write[] = [],
): Promise<EndResult> => {
  const { claim, id } = operation;
  const claimWrites = claim ? [releaseClaim(claim, id)] : [];
  const end = { moved: { release: operation.amount }, reason: operation.reason };
  return endOperation(world, operation, end, [...claimWrites, ...also]);
};

const endOperation = async (
  world: World,
  operation: Operation,
  end: Pick<LedgerEntry, "moved" | "reason" | "paidFor">,
  also: readonly Write[],
): Promise<EndResult> => {
  const { id, account, openedAt, token, shard, countedIn } = operation;
  const origin = { operation: id, account, openedAt, countedIn };
  const closing = createEndEntry(origin, { at: world.now(), token, ...end });
  const removal = buildOperationRemoval(operation);
  const [entry, ...moves] = move(closing, shard);
  const transaction =
    operation.mode === "live"
      ? { proof: entry, also: [...moves, removal, ...also] }
      : { proof: null, also: [removal, ...also] };
  return toEndResult(commit(world, transaction));
};

/** Tests whether this process still owns the operation; then another condition refused its end. */
export const isStillOwned = async (table: Table, { id, token }: Operation): Promise<boolean> =>
  (await table.get(toOperationKey(id)))?.["token"] === token;

/** Hands the held credits and the work over to the job that the first write creates. */
export const handOverToJob = async (
  world: World,
  operation: Operation,
  [job, ...others]: readonly [Create, ...Write[]],
  answer: Json,
): Promise<EndResult> => {
  const { claim, id } = operation;
  const claimWrites = claim ? [answerClaim(claim, id, answer)] : [];
  return toEndResult(
    commit(world, {
      proof: job,
      also: [...others, buildOperationRemoval(operation), ...claimWrites],
    }),
  );
};

/** If the table throws, nothing changed: the credits stay held, and the reconciler or a repeat continues. */
const toEndResult = async (commitment: Promise<TransactResult>): Promise<EndResult> => {
  const { outcome } = await commitment.catch(() => ({ outcome: "ambiguous" }));
  if (outcome === "committed") return "ended";
  return outcome === "refused" ? "lost" : "unknown";
};

/** A process that lost its lease finds another token, so only the current owner can remove the operation. */
const buildOperationRemoval = ({ id, token }: Operation): Write => ({
  remove: toOperationKey(id),
  where: { token },
});
