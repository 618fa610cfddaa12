import type { AddressText } from "@mailproof/mail/address";
import type { WithIssuers } from "../control/issuers.ts";
import { Failure } from "../lib/failure.ts";
import { withTimeout } from "../lib/timeout.ts";
import type { IdempotencyKey } from "../money/idempotency-claims.ts";
import { createInProgressFailure } from "../money/in-progress.ts";
import type { Payer } from "../money/payer.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { QUIET_ENGINE } from "../verify/quiet-engine.ts";
import type { Verification } from "../verify/result.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { createUnprobedResult, verifyAddress } from "../verify/verify.ts";
import { createReceipt } from "./create-receipt.ts";
import { createOrder, holdPrice, type VerifyRequest } from "./order-verification.ts";
import {
  findControl,
  findProven,
  payForFound,
  replay,
  switchToJob,
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
  // What the request works on is over by now.
  const order = createOrder(world, payer, { idempotencyKey, waitMs: 0 });
  const found = findProven(world, order, request, control);
  if (found) {
    const paid = await payForFound(world, order, request, found, control).catch(hideBalance);
    const receipt = paid.kind === "verified" ? paid.result.receipt : undefined;
    return { seen: found.whole, paid, receipt };
  }
  const begun = await holdPrice(world, order, request, control).catch(hideBalance);
  if (begun.kind === "in_progress") throw createInProgressFailure(begun.retryAfterMs);
  const paid =
    begun.kind === "replayed"
      ? await replay(world, begun.answer)
      : await switchToJob(world, begun.operation);
  // Control was proven when this was paid, and the token has expired since: there is no job that a receipt could name.
  if (paid.kind === "verified") return { seen, paid };
  const receipt = createReceipt(world, payer, request, {
    id: paid.pending.job,
    result: seen,
    cached: false,
    price: paid.price,
    paidBy: ["debit", "hold"],
    isForVisitor: true,
  });
  return { seen, paid, ...receipt };
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
