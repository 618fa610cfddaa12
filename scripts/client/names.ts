import { namedOf } from "@mailproof/api/openapi/operations";

/** Where the client calls an operation otherwise than the document does. The names are an interface, and stay. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  "POST /v1/verify": "verify",
  "POST /v1/verify/file get_upload_url": "createUpload",
  "POST /v1/verify/file process": "processFile",
  "GET /v1/jobs/{id}/download": "exportJob",
  "POST /v1/find": "find",
  "POST /v1/activity/batch": "getActivities",
  "GET /v1/activity/domain/{domain}": "getReputation",
};

/** A route that does one of several things has a name for each of them. */
export const nameOf = (route: string, action: string | null): string => {
  if (action === null) return OWN_NAMES[route] ?? namedOf(route).id;
  const name = OWN_NAMES[`${route} ${action}`];
  if (!name) throw new Error(`scripts/client/names.ts has no name for ${action} of ${route}`);
  return name;
};

/** Written without a key, and yet the same when it comes twice: reads, and what the service knows by its content. */
export const SAME_WHEN_REPEATED: readonly string[] = [
  "POST /v1/verify/file get_upload_url",
  "POST /v1/activity/batch",
  "POST /v1/activity/events",
  "POST /v1/deliverability/monitors",
];

/** A query is text on the wire; these are more than that to a caller. */
export const QUERY_TYPES: Readonly<Record<string, string>> = {
  limit: "number",
  include_results: "boolean",
};
