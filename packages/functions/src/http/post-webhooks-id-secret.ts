import { postWebhooksIdSecret } from "@mailproof/api/endpoints/post-webhooks-id-secret";
import { lambda } from "../lambda.ts";

export const handler = lambda(postWebhooksIdSecret);
