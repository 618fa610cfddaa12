import type { AddressText } from "@mailproof/mail/address";
import { getRetentionSeconds } from "../accounts/retention.ts";
import { Failure } from "../lib/failure.ts";
import { withTimeout } from "../lib/timeout.ts";
import { beginOperation } from "../money/begin-operation.ts";
import type { IdempotencyKey } from "../money/idempotency-claims.ts";
import { createInProgressFailure } from "../money/in-progress.ts";
import type { Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { QUIET_ENGINE } from "../verify/quiet-engine.ts";
import type { Verification } from "../verify/result.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { createUnprobedResult, verifyAddress } from "../verify/verify.ts";
import {
  MARGIN_MS,
  replay,
  switchToJob,
  VERIFY,
  type VerifyInput,
  type VerifyResult,
} from "./verify-once.ts";

/** A form waits for two seconds in all, and DNS has most of them. */
const DNS_WAIT_MS = 1_500;

/** `seen`: what a visitor may know. `job`: asks the mail server, for the back end. */
export type FormVerification = {
  readonly seen: Verification;
  readonly job: string;
  readonly paid: VerifyResult;
};

/**
 * Verifies an address that a visitor types: answers from syntax, lists and DNS, and leaves the mail server to a job. No
 * cached result and nothing else about this address has a part in the answer, nor in how long it takes.
 */
export const verifyForForm = async (
  world: VerifyWorld,
  payer: Payer,
  email: AddressText,
  idempotencyKey: IdempotencyKey | null,
): Promise<FormVerification> => {
  const seen = await verifyBriefly(world, payer, email);
  const input: VerifyInput = {
    email: email.text,
    deepVerify: true,
    includeAi: true,
    includeEvidence: false,
    retentionSeconds: getRetentionSeconds(payer),
  };
  const order = {
    id: world.newId("job"),
    kind: VERIFY,
    payer,
    reason: "verify" as const,
    idempotencyKey,
    leaseMs: MARGIN_MS,
  };
  const begun = await beginOperation(world, order, async () => ({
    price: PRICES.verify,
    input,
    expectedMs: DNS_WAIT_MS,
  })).catch(hideBalance);
  if (begun.kind === "in_progress") throw createInProgressFailure(begun.retryAfterMs);
  const paid =
    begun.kind === "replayed"
      ? await replay(world, begun.answer)
      : await switchToJob(world, begun.operation);
  // Nothing is paid here but the job.
  if (paid.kind !== "pending") throw new Error("a form's verification has a result");
  return { seen, job: paid.pending.job, paid };
};

const verifyBriefly = async (
  world: VerifyWorld,
  { mode }: Payer,
  email: AddressText,
): Promise<Verification> => {
  // The job's result is the one that counts.
  const { onVerification } = QUIET_ENGINE;
  const engine = { ...selectEngine(world, mode), onVerification };
  const options = { deepVerify: false, includeAi: true, includeEvidence: false };
  const work = verifyAddress(engine, email, options);
  const result = await withTimeout(world, DNS_WAIT_MS, work, world.stopping);
  return result === "late" ? createUnprobedResult(engine, email.text, "timeout") : result;
};

/** Whoever opens the page must not learn what the account has. */
const hideBalance = (failure: unknown): never => {
  if (!(failure instanceof Failure) || failure.code !== "INSUFFICIENT_CREDITS") throw failure;
  const what = "The account of this key cannot pay for verifications right now.";
  throw new Failure("INSUFFICIENT_CREDITS", failure.money, what);
};
