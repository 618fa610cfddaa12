import { getCatalog } from "@mailproof/api/endpoints/get-catalog";
import { lambda } from "../lambda.ts";

export const handler = lambda(getCatalog);
