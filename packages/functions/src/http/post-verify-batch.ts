import { postVerifyBatch } from "@mailproof/api/endpoints/post-verify-batch";
import { lambda } from "../lambda.ts";
import { toSubscribers } from "../reach/https.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(postVerifyBatch, awsWorld(toSubscribers));
