import { postWebhooks } from "@mailproof/api/endpoints/post-webhooks";
import { lambda } from "../lambda.ts";

export const handler = lambda(postWebhooks);
