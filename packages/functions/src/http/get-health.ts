import { getHealth } from "@mailproof/api/endpoints/get-health";
import { lambda } from "../lambda.ts";

export const handler = lambda(getHealth);
