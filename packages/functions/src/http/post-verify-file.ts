import { postVerifyFile } from "@mailproof/api/endpoints/post-verify-file";
import { lambda } from "../lambda.ts";

export const handler = lambda(postVerifyFile);
