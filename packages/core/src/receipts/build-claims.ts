import type { AddressText } from "@mailproof/mail/address";
import { type EntryStep, toMovementId } from "../money/items.ts";
import type { MoveKind } from "../money/moves.ts";
import type { Payer } from "../money/payer.ts";
import type { World } from "../ports/world.ts";
import type { VerifyOptions } from "../verify/verify.ts";
import { encodeClaims, type ReceiptFacts } from "./receipt-claims.ts";
import type { ReceiptOrigin } from "./receipt-origin.ts";

type Request = {
  readonly email: AddressText;
  readonly options: Pick<VerifyOptions, "includeEvidence">;
  readonly receipt?: ReceiptOrigin | undefined;
};

type Answered = Pick<ReceiptFacts, "id" | "result" | "cached" | "price" | "isForVisitor"> & {
  readonly paidBy: readonly [EntryStep, MoveKind];
};

/** Undefined when the request asked for no receipt. */
export const buildClaims = (
  world: World,
  { account, mode }: Pick<Payer, "account" | "mode">,
  { email, options: { includeEvidence }, receipt }: Request,
  { paidBy, ...answered }: Answered,
): string | undefined =>
  receipt &&
  encodeClaims(world, {
    ...receipt,
    ...answered,
    account,
    at: world.now(),
    mode,
    email: email.text,
    includeEvidence,
    ledgerEntry: mode === "live" ? toMovementId(answered.id, ...paidBy) : null,
  });
