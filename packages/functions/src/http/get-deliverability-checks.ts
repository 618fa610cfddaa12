import { getDeliverabilityChecks } from "@mailproof/api/endpoints/get-deliverability-checks";
import { lambda } from "../lambda.ts";

export const handler = lambda(getDeliverabilityChecks);
