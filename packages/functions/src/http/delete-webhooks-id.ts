import { deleteWebhooksId } from "@mailproof/api/endpoints/delete-webhooks-id";
import { lambda } from "../lambda.ts";

export const handler = lambda(deleteWebhooksId);
