import { postDeliverabilityMonitors } from "@mailproof/api/endpoints/post-deliverability-monitors";
import { lambda } from "../lambda.ts";

export const handler = lambda(postDeliverabilityMonitors);
