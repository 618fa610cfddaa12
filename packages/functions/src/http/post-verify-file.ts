import { postVerifyFile } from "@mailproof/api/endpoints/post-verify-file";
import { lambda } from "../lambda.ts";
import { toSubscribers } from "../reach/https.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(postVerifyFile, awsWorld(toSubscribers));
