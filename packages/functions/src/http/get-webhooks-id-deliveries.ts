import { getWebhooksIdDeliveries } from "@mailproof/api/endpoints/get-webhooks-id-deliveries";
import { lambda } from "../lambda.ts";

export const handler = lambda(getWebhooksIdDeliveries);
