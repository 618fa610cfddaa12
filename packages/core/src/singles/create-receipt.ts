import type { AddressText } from "@mailproof/mail/address";
import type { Job } from "../jobs/items.ts";
import type { Halves } from "../money/credits.ts";
import { type EntryStep, toMovementId } from "../money/items.ts";
import type { MoveKind } from "../money/moves.ts";
import type { Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { ReceiptOrigin } from "../receipts/receipt-origin.ts";
import { type ReceiptFacts, signReceipt } from "../receipts/sign-receipt.ts";
import { trimResult, type Verification } from "../verify/result.ts";
import { findFreeReason } from "../verify/unpaid-results.ts";
import type { VerifyOptions } from "../verify/verify.ts";

type Request = {
  readonly email: AddressText;
  readonly options: Pick<VerifyOptions, "includeEvidence">;
  readonly receipt?: ReceiptOrigin | undefined;
};

type JobRequest = Omit<Request, "options"> & Pick<VerifyOptions, "includeAi" | "includeEvidence">;

type Answered = Pick<ReceiptFacts, "id" | "result" | "cached" | "price" | "isForVisitor"> & {
  /** The entry of the ledger that shows its payment. */
  readonly paidBy: readonly [EntryStep, MoveKind];
};

/** The receipt of an answer, where the request asks for one. */
export const createReceipt = (
  world: World,
  { account, mode }: Pick<Payer, "account" | "mode">,
  { email, options: { includeEvidence }, receipt }: Request,
  { paidBy, ...answered }: Answered,
): { readonly receipt: string } | undefined =>
  receipt && {
    receipt: signReceipt(world, {
      ...receipt,
      ...answered,
      account,
      at: world.now(),
      mode,
      email: email.text,
      includeEvidence,
      ledgerEntry: mode === "live" ? toMovementId(answered.id, ...paidBy) : null,
    }),
  };

/** What the row of a job shows: the parts of its result that the request named, with its receipt. */
export const toJobResult = (
  world: World,
  { id, account, mode, held }: Pick<Job, "id" | "account" | "mode" | "held">,
  single: JobRequest,
  result: Verification,
): Verification => {
  const isFree = findFreeReason(result) !== null;
  const request = { ...single, options: single };
  const receipt = createReceipt(world, { account, mode }, request, {
    id,
    result,
    cached: false,
    price: isFree ? (0 as Halves) : held,
    paidBy: ["end", isFree ? "release" : "settle"],
  });
  return { ...trimResult(result, single), ...receipt };
};
