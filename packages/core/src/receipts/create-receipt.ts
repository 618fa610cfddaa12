import type { AddressText } from "@mailproof/mail/address";
import { type EntryStep, toMovementId } from "../money/items.ts";
import type { MoveKind } from "../money/moves.ts";
import type { Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { VerifyOptions } from "../verify/verify.ts";
import type { ReceiptOrigin } from "./receipt-origin.ts";
import { type ReceiptFacts, signReceipt } from "./sign-receipt.ts";

type Request = {
  readonly email: AddressText;
  readonly options: Pick<VerifyOptions, "includeEvidence">;
  readonly receipt?: ReceiptOrigin | undefined;
};

type Answered = Pick<ReceiptFacts, "id" | "result" | "cached" | "price" | "isForVisitor"> & {
  readonly paidBy: readonly [EntryStep, MoveKind];
};

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
