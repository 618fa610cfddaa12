import { getJobsId } from "@mailproof/api/endpoints/get-jobs-id";
import { lambda } from "../lambda.ts";

export const handler = lambda(getJobsId);
