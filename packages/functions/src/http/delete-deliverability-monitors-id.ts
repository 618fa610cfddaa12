import { deleteDeliverabilityMonitorsId } from "@mailproof/api/endpoints/delete-deliverability-monitors-id";
import { lambda } from "../lambda.ts";

export const handler = lambda(deleteDeliverabilityMonitorsId);
