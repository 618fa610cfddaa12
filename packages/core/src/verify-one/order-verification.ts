import type { AddressText } from "@mailproof/mail/address";
import * as v from "valibot";
import { getRetentionSeconds } from "../accounts/retention.ts";
import type { ControlProof, ControlResult } from "../control/check-control.ts";
import {
  type BeginResult,
  beginOperation,
  type OperationRequest,
} from "../money/begin-operation.ts";
import type { Payer } from "../money/payer.ts";
import { PRICES } from "../money/prices.ts";
import type { World } from "../ports/world.ts";
import { ReceiptOrigin } from "../receipts/receipt-claims.ts";
import type { VerifyOptions } from "../verify/verify.ts";
import { FormVisit } from "./form-counts.ts";

export type VerifyRequest = {
  readonly email: AddressText;
  readonly options: VerifyOptions;
  readonly waitMs: number;
  /** Facts for the receipt. Absent when the response contains no receipt. */
  readonly receipt?: ReceiptOrigin | undefined;
  readonly proof?: ControlProof | undefined;
  /** Absent when the address does not come from a form. */
  readonly form?: FormVisit;
};

/** The work after the wait takes less than 15 s; then the reconciler may take over. */
const MARGIN_MS = 15_000;

export const VERIFY = "verify";

export const VerifyInput = v.object({
  email: v.string(),
  deepVerify: v.boolean(),
  includeAi: v.boolean(),
  includeEvidence: v.boolean(),
  retentionSeconds: v.number(),
  /** The reason that control of the address was not proven; 0.2.0 lacks this field. */
  control: v.optional(v.string()),
  /** 0.2.0 lacks this field. */
  receipt: v.optional(ReceiptOrigin),
  /** 0.2.0 lacks this field. */
  form: v.optional(FormVisit),
});
type VerifyInput = v.InferOutput<typeof VerifyInput>;

/** `waitMs`: the time that the request itself works on the verification before a job continues. */
export const createOrder = (
  world: World,
  payer: Payer,
  {
    idempotencyKey,
    waitMs,
  }: Pick<OperationRequest, "idempotencyKey"> & { readonly waitMs: number },
): OperationRequest => ({
  id: world.newId("job"),
  kind: VERIFY,
  payer,
  reason: "verify",
  idempotencyKey,
  leaseMs: waitMs + MARGIN_MS,
});

export const holdPrice = (
  world: World,
  order: OperationRequest,
  { email, options, receipt, form, waitMs }: VerifyRequest,
  control: ControlResult | undefined,
): Promise<BeginResult> => {
  const retentionSeconds = getRetentionSeconds(order.payer);
  const known = { receipt, ...(form && { form }), ...(control && { control: control.status }) };
  const input: VerifyInput = { email: email.text, ...options, retentionSeconds, ...known };
  return beginOperation(world, order, async () => ({
    price: PRICES.verify,
    input,
    expectedMs: waitMs,
  }));
};
