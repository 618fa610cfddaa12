import type { AddressText } from "@mailproof/mail/address";
import { getRetentionSeconds } from "../accounts/retention.ts";
import type { WithIssuers } from "../control/issuers.ts";
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
import { createControlledResult, createUnprobedResult, verifyAddress } from "../verify/verify.ts";
import { createReceipt } from "./create-receipt.ts";
import {
  findControl,
  MARGIN_MS,
  payForFound,
  replay,
  switchToJob,
  VERIFY,
  type VerifyInput,
  type VerifyRequest,
  type VerifyResult,
} from "./verify-once.ts";

/** A form waits for two seconds in all, and what is asked of others has most of them. */
const WAIT_MS = 1_500;

/** What a form sends. */
type FormRequest = Pick<VerifyRequest, "email" | "proof"> & {
  /** Of the page. Undefined: a program sent it. */
  readonly origin: string | undefined;
};

/** `seen`: what a visitor may know. `paid`: the job that asks the mail server, or the proof that none need be asked. */
export type FormVerification = {
  readonly seen: Verification;
  readonly paid: VerifyResult;
  readonly receipt?: string | undefined;
};

/**
 * Verifies an address that a visitor types: answers from syntax, lists and DNS, and leaves the mail server to a job. No
 * cached result and nothing else about this address has a part in the answer, nor in how long it takes.
 */
export const verifyForForm = async (
  world: VerifyWorld & WithIssuers,
  payer: Payer,
  { email, proof, origin }: FormRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<FormVerification> => {
  const request = {
    email,
    proof,
    options: WHOLE,
    waitMs: WAIT_MS,
    receipt: { origin, nonce: proof?.nonce },
  };
  const [seen, control] = await Promise.all([
    verifyBriefly(world, payer, email),
    findControl(world, payer, request),
  ]);
  const order = {
    id: world.newId("job"),
    kind: VERIFY,
    payer,
    reason: "verify" as const,
    idempotencyKey,
    leaseMs: MARGIN_MS,
  };
  if (control?.status === "controlled") {
    const whole = createControlledResult(selectEngine(world, payer.mode), email);
    const found = { price: PRICES.verifyControlled, cached: false, whole };
    const paid = await payForFound(world, order, request, found, control).catch(hideBalance);
    return {
      seen: whole,
      paid,
      receipt: paid.kind === "verified" ? paid.result.receipt : undefined,
    };
  }
  const input: VerifyInput = {
    email: email.text,
    ...WHOLE,
    retentionSeconds: getRetentionSeconds(payer),
    receipt: request.receipt,
    ...(control && { control: control.status }),
  };
  const begun = await beginOperation(world, order, async () => ({
    price: PRICES.verify,
    input,
    expectedMs: WAIT_MS,
  })).catch(hideBalance);
  if (begun.kind === "in_progress") throw createInProgressFailure(begun.retryAfterMs);
  const paid =
    begun.kind === "replayed"
      ? await replay(world, begun.answer)
      : await switchToJob(world, begun.operation);
  // Control was proven when this was paid, and the token has expired since: there is no job that a receipt could name.
  if (paid.kind === "verified") return { seen, paid };
  const answered = {
    id: paid.pending.job,
    result: seen,
    cached: false,
    price: paid.price,
  } as const;
  const paidBy = ["debit", "hold"] as const;
  return {
    seen,
    paid,
    ...createReceipt(world, payer, request, { ...answered, paidBy, isForVisitor: true }),
  };
};

/** What the job finds out, for the back end. */
const WHOLE = { deepVerify: true, includeAi: true, includeEvidence: false } as const;

const verifyBriefly = async (
  world: VerifyWorld,
  { mode }: Payer,
  email: AddressText,
): Promise<Verification> => {
  // The job's result is the one that counts.
  const { onVerification } = QUIET_ENGINE;
  const engine = { ...selectEngine(world, mode), onVerification };
  const options = { deepVerify: false, includeAi: true, includeEvidence: true };
  const work = verifyAddress(engine, email, options);
  const result = await withTimeout(world, WAIT_MS, work, world.stopping);
  return result === "late" ? createUnprobedResult(engine, email.text, "timeout") : result;
};

/** Whoever opens the page must not learn what the account has. */
const hideBalance = (failure: unknown): never => {
  if (!(failure instanceof Failure) || failure.code !== "INSUFFICIENT_CREDITS") throw failure;
  const what = "The account of this key cannot pay for verifications right now.";
  throw new Failure("INSUFFICIENT_CREDITS", failure.money, what);
};
