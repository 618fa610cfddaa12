import { getDeliverabilityChecksId } from "@mailproof/api/endpoints/get-deliverability-checks-id";
import { lambda } from "../lambda.ts";

export const handler = lambda(getDeliverabilityChecksId);
