import { deleteApiKeysId } from "@mailproof/api/endpoints/delete-api-keys-id";
import { lambda } from "../lambda.ts";

export const handler = lambda(deleteApiKeysId);
