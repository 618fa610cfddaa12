import { getApiKeys } from "@mailproof/api/endpoints/get-api-keys";
import { lambda } from "../lambda.ts";

export const handler = lambda(getApiKeys);
