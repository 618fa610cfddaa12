import { putWebhooksId } from "@mailproof/api/endpoints/put-webhooks-id";
import { lambda } from "../lambda.ts";
import { toSubscribers } from "../reach/https.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(putWebhooksId, awsWorld(toSubscribers));
