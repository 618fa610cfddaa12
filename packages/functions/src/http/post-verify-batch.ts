import { postVerifyBatch } from "@mailproof/api/endpoints/post-verify-batch";
import { lambda } from "../lambda.ts";

export const handler = lambda(postVerifyBatch);
