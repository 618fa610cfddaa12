import { getWebhooks } from "@mailproof/api/endpoints/get-webhooks";
import { lambda } from "../lambda.ts";

export const handler = lambda(getWebhooks);
