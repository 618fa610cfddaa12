import { postVerify } from "@mailproof/api/endpoints/post-verify";
import { lambda } from "../lambda.ts";
import { toProber } from "../reach/prober.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(postVerify, awsWorld(toProber));
