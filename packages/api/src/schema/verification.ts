import { createPublicWriter, toPublicSchema } from "@mailproof/core/verify/fields";
import { RESULT_FIELDS } from "@mailproof/core/verify/result";
import type * as v from "valibot";

/** A verification result as the API, MCP, exports and the command return it. */
export const VerificationResult = toPublicSchema(RESULT_FIELDS);

export type VerificationResult = v.InferOutput<typeof VerificationResult>;

export const toWire = createPublicWriter(RESULT_FIELDS);
