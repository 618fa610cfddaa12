import * as v from "valibot";

/** Facts that only the request knows. A job that continues the request stores them. */
export const ReceiptOrigin = v.object({
  origin: v.optional(v.string()),
  /** The nonce of a proof of control. A back end must check that its nonce is new: this service does not. */
  nonce: v.optional(v.string()),
});

export type ReceiptOrigin = Readonly<v.InferOutput<typeof ReceiptOrigin>>;
