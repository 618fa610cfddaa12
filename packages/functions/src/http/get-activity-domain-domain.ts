import { getActivityDomainDomain } from "@mailproof/api/endpoints/get-activity-domain-domain";
import { lambda } from "../lambda.ts";

export const handler = lambda(getActivityDomainDomain);
