import { getJobs } from "@mailproof/api/endpoints/get-jobs";
import { lambda } from "../lambda.ts";

export const handler = lambda(getJobs);
