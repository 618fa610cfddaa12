import { getDeliverabilityMonitors } from "@mailproof/api/endpoints/get-deliverability-monitors";
import { lambda } from "../lambda.ts";

export const handler = lambda(getDeliverabilityMonitors);
