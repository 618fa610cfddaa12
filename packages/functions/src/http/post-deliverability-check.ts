import { postDeliverabilityCheck } from "@mailproof/api/endpoints/post-deliverability-check";
import { lambda } from "../lambda.ts";
import { toDns } from "../reach/dns.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(postDeliverabilityCheck, awsWorld(toDns));
