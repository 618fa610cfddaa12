import { getAccountUsage } from "@mailproof/api/endpoints/get-account-usage";
import { lambda } from "../lambda.ts";

export const handler = lambda(getAccountUsage);
