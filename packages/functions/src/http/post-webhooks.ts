import { postWebhooks } from "@mailproof/api/endpoints/post-webhooks";
import { lambda } from "../lambda.ts";
import { toSubscribers } from "../reach/https.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(postWebhooks, awsWorld(toSubscribers));
