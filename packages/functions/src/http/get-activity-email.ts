import { getActivityEmail } from "@mailproof/api/endpoints/get-activity-email";
import { lambda } from "../lambda.ts";

export const handler = lambda(getActivityEmail);
