import { postActivityEvents } from "@mailproof/api/endpoints/post-activity-events";
import { lambda } from "../lambda.ts";

export const handler = lambda(postActivityEvents);
