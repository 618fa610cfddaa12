import { getJobsIdDownload } from "@mailproof/api/endpoints/get-jobs-id-download";
import { lambda } from "../lambda.ts";

export const handler = lambda(getJobsIdDownload);
