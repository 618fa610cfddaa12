import { postApiKeys } from "@mailproof/api/endpoints/post-api-keys";
import { lambda } from "../lambda.ts";

export const handler = lambda(postApiKeys);
