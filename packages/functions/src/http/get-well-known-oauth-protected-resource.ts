import { getWellKnownOauthProtectedResource } from "@mailproof/api/endpoints/get-well-known-oauth-protected-resource";
import { lambda } from "../lambda.ts";

export const handler = lambda(getWellKnownOauthProtectedResource);
