import type { Endpoint } from "./endpoint.ts";
import { deleteApiKeysId } from "./endpoints/delete-api-keys-id.ts";
import { getAccount } from "./endpoints/get-account.ts";
import { getAccountUsage } from "./endpoints/get-account-usage.ts";
import { getApiKeys } from "./endpoints/get-api-keys.ts";
import { getCatalog } from "./endpoints/get-catalog.ts";
import { getHealth } from "./endpoints/get-health.ts";
import { postApiKeys } from "./endpoints/post-api-keys.ts";

/** The table of contents of the API. */
export const endpoints: readonly Endpoint[] = [
  getHealth,

  getAccount,
  getAccountUsage,
  getApiKeys,
  postApiKeys,
  deleteApiKeysId,

  getCatalog,
];
