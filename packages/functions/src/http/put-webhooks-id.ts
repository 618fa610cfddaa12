import { putWebhooksId } from "@mailproof/api/endpoints/put-webhooks-id";
import { lambda } from "../lambda.ts";

export const handler = lambda(putWebhooksId);
