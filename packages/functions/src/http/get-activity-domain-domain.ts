import { getActivityDomainDomain } from "@mailproof/api/endpoints/get-activity-domain-domain";
import { lambda } from "../lambda.ts";
import { toDns } from "../reach/dns.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(getActivityDomainDomain, awsWorld(toDns));
