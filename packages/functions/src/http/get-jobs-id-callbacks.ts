import { getJobsIdCallbacks } from "@mailproof/api/endpoints/get-jobs-id-callbacks";
import { lambda } from "../lambda.ts";

export const handler = lambda(getJobsIdCallbacks);
