import { getAccount } from "@mailproof/api/endpoints/get-account";
import { lambda } from "../lambda.ts";

export const handler = lambda(getAccount);
