import { postDeliverabilityCheck } from "@mailproof/api/endpoints/post-deliverability-check";
import { lambda } from "../lambda.ts";

export const handler = lambda(postDeliverabilityCheck);
