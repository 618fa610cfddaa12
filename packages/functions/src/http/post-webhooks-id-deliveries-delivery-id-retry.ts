import { postWebhooksIdDeliveriesDeliveryIdRetry } from "@mailproof/api/endpoints/post-webhooks-id-deliveries-delivery-id-retry";
import { lambda } from "../lambda.ts";

export const handler = lambda(postWebhooksIdDeliveriesDeliveryIdRetry);
