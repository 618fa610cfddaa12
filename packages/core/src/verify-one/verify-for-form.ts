import type { AddressText } from "@mailproof/mail/address";
import type { PublicUse } from "../accounts/api-key-items.ts";
import { giveBackDailyUse, takeDailyUse } from "../accounts/public-keys.ts";
import type { WithIssuers } from "../control/issuers.ts";
import { Failure } from "../lib/failure.ts";
import { withTimeout } from "../lib/timeout.ts";
import type { Halves } from "../money/credits.ts";
import type { IdempotencyKey } from "../money/idempotency-claims.ts";
import type { Operation } from "../money/operation-items.ts";
import type { Payer } from "../money/payer.ts";
import { createReceipt } from "../receipts/create-receipt.ts";
import type { VerifyWorld } from "../verify/engine.ts";
import { QUIET_ENGINE } from "../verify/quiet-engine.ts";
import type { Verification } from "../verify/result.ts";
import { selectEngine } from "../verify/sandbox.ts";
import { ADDRESS_LITERAL } from "../verify/unpaid-results.ts";
import { createUnprobedResult, verifyAddress } from "../verify/verify.ts";
import { toFormVisit } from "./form-counts.ts";
import {
  createOrder,
  type FoundResult,
  findControl,
  findProven,
  holdPrice,
  payForFound,
  resume,
  switchToJob,
  type VerifyRequest,
  type VerifyResult,
} from "./verify-once.ts";

/** A form waits 2 s in total; 1.5 s of it is for DNS and the token's issuer. */
const WAIT_MS = 1_500;

type FormRequest = Pick<VerifyRequest, "email" | "proof"> & {
  readonly keyId: string;
  /** The page of the request; undefined when a back end sent it. */
  readonly visit: { readonly use: PublicUse; readonly origin: string } | undefined;
};

/** `seen`: the result that a visitor may see. `paid`: the job that asks the mail server, or the proof that makes it unnecessary. */
export type FormVerification = {
  readonly seen: Verification;
  readonly paid: VerifyResult;
  readonly receipt?: string | undefined;
};

/**
 * Verifies an address that a visitor types: answers from syntax, lists and DNS, and leaves the mail server to a job. Neither
 * the answer nor its delay depends on a cached result or on other stored data about the address.
 */
export const verifyForForm = async (
  world: VerifyWorld & WithIssuers,
  payer: Payer,
  { email, proof, keyId, visit }: FormRequest,
  idempotencyKey: IdempotencyKey | null,
): Promise<FormVerification> => {
  const request = {
    email,
    proof,
    options: WHOLE,
    waitMs: WAIT_MS,
    receipt: { origin: visit?.origin, nonce: proof?.nonce },
  };
  const [seen, control] = await Promise.all([
    verifyBriefly(world, payer, email),
    findControl(world, payer, request),
  ]);
  // The request has ended, so the lease is only a margin.
  const order = {
    ...createOrder(world, payer, { idempotencyKey, waitMs: 0 }),
    // Only new, paid verifications count against the key's daily limit.
    ...(visit && { admit: () => takeDailyUse(world, keyId, visit.use) }),
  };
  const found = findProven(world, order, request, control) ?? findUnaskable(seen);
  const form = toFormVisit({ key: keyId, origin: visit?.origin }, found?.whole ?? seen);
  const goOn = (operation: Operation) => switchToJob(world, operation);
  const paying = found
    ? payForFound(world, order, { ...request, form }, found, control, goOn)
    : holdPrice(world, order, { ...request, form }, control).then((begun) =>
        resume(world, begun, goOn),
      );
  const paid = await paying.catch(async (failure: unknown) => {
    if (!(failure instanceof Failure) || failure.code !== "INSUFFICIENT_CREDITS") throw failure;
    if (visit) await giveBackDailyUse(world, keyId);
    throw hideBalance(failure);
  });
  // Control is proven, now or by the first request of this key: a repeat gets the first answer, even if its token is invalid by now.
  if (paid.kind === "verified") return { seen: paid.result, paid, receipt: paid.result.receipt };
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

/** An address literal has no mail server that a job could ask, so its result is free. */
const findUnaskable = (seen: Verification): FoundResult | undefined =>
  seen.reason === ADDRESS_LITERAL ? { price: 0 as Halves, cached: false, whole: seen } : undefined;

/** The options of the job: a complete verification, whose result the back end reads. */
const WHOLE = { deepVerify: true, includeAi: true, includeEvidence: false } as const;

const verifyBriefly = async (
  world: VerifyWorld,
  { mode }: Payer,
  email: AddressText,
): Promise<Verification> => {
  // The metrics count only the job's result.
  const { onVerification } = QUIET_ENGINE;
  const engine = { ...selectEngine(world, mode), onVerification };
  const options = { deepVerify: false, includeAi: true, includeEvidence: true };
  const work = verifyAddress(engine, email, options);
  const result = await withTimeout(world, WAIT_MS, work, world.stopping);
  return result === "late" ? createUnprobedResult(engine, email.text, "timeout") : result;
};

/** Visitors must not learn the account's balance. */
const hideBalance = ({ code, money }: Failure): Failure =>
  new Failure(code, money, "The account of this key cannot pay for verifications right now.");
