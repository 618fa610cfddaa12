import { postWebhooksIdTest } from "@mailproof/api/endpoints/post-webhooks-id-test";
import { lambda } from "../lambda.ts";

export const handler = lambda(postWebhooksIdTest);
