import { postActivityBatch } from "@mailproof/api/endpoints/post-activity-batch";
import { lambda } from "../lambda.ts";

export const handler = lambda(postActivityBatch);
