import { getWebhooksEvents } from "@mailproof/api/endpoints/get-webhooks-events";
import { lambda } from "../lambda.ts";

export const handler = lambda(getWebhooksEvents);
