import { postWebhooksIdTest } from "@mailproof/api/endpoints/post-webhooks-id-test";
import { lambda } from "../lambda.ts";
import { toSubscribers } from "../reach/https.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(postWebhooksIdTest, awsWorld(toSubscribers));
