import * as v from "valibot";

/** What only the request knows. Stored with work that goes on as a job. */
export const ReceiptOrigin = v.object({
  /** The origin of the page that it came from. */
  origin: v.optional(v.string()),
  /** That of a proof of control. A back end compares it with its own: whether it was used before is not known here. */
  nonce: v.optional(v.string()),
});

export type ReceiptOrigin = Readonly<v.InferOutput<typeof ReceiptOrigin>>;
