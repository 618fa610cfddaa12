import { postVerify } from "@mailproof/api/endpoints/post-verify";
import { lambda } from "../lambda.ts";

export const handler = lambda(postVerify);
