import type { Access } from "@mailproof/api/http/endpoint";

type Operation = {
  /** As the contract writes it, with the braces named as ours are. */
  readonly route: string;
  readonly access: Access;
  readonly statuses: readonly number[];
};

const BEHIND_A_KEY = [401, 403, 429];

const of = (route: string, access: Access, ...statuses: readonly number[]): Operation => ({
  route,
  access,
  statuses: access === "public" ? statuses : [...statuses, ...BEHIND_A_KEY],
});

/** Every operation of the contract and every status that it documents for it. */
export const CONTRACT: readonly Operation[] = [
  of("GET /health", "public", 200, 503),
  of("POST /v1/verify", "verification:write", 200, 400, 402, 409, 500, 503),
  of("POST /v1/verify/batch", "verification:write", 202, 400, 402, 409, 413, 500, 503),
  of("POST /v1/verify/file", "verification:write", 200, 202, 400, 402, 404, 409, 413, 500, 503),
  of("GET /v1/jobs", "verification:read", 200, 400),
  of("GET /v1/jobs/{id}", "verification:read", 200, 400, 404),
  of("GET /v1/jobs/{id}/download", "verification:read", 200, 400, 404, 409),
  of("POST /v1/find", "verification:write", 200, 400, 402, 500, 503),
  of("GET /v1/activity/{email}", "activity:read", 200, 400),
  of("POST /v1/activity/batch", "activity:read", 200, 400),
  of("GET /v1/activity/domain/{domain}", "activity:read", 200, 400),
  of("POST /v1/deliverability/check", "deliverability:write", 200, 400, 402, 409, 500, 503),
  of("GET /v1/deliverability/checks", "deliverability:read", 200, 400),
  of("GET /v1/deliverability/checks/{id}", "deliverability:read", 200, 400, 404),
  of("GET /v1/webhooks", "webhooks:read", 200, 400),
  of("POST /v1/webhooks", "webhooks:write", 201, 400),
  of("PUT /v1/webhooks/{id}", "webhooks:write", 200, 400, 404),
  of("DELETE /v1/webhooks/{id}", "webhooks:write", 200, 404),
  of("POST /v1/webhooks/{id}/test", "webhooks:write", 200, 400, 404),
  of("POST /v1/webhooks/{id}/secret", "webhooks:write", 200, 404),
  of("GET /v1/webhooks/events", "webhooks:read", 200),
];

/** Ours: each endpoint says in `addition` why it is there. */
export const OURS: readonly Operation[] = [
  of("GET /v1/jobs/{id}/results/{row}", "verification:read", 200, 400, 404),
  of("POST /v1/jobs/{id}/cancel", "verification:write", 200, 400, 404, 409, 503),
  of("DELETE /v1/jobs/{id}", "verification:write", 200, 400, 404, 409, 503),
  of("GET /v1/jobs/{id}/callbacks", "verification:read", 200, 400, 404),
  of("POST /v1/activity/events", "activity:write", 200, 400, 413, 503),
  of("POST /v1/deliverability/reports", "deliverability:write", 200, 201, 400, 409, 413, 503),
  of("GET /v1/deliverability/domains/{domain}", "deliverability:read", 200, 400),
  of("GET /v1/deliverability/domains/{domain}/reports", "deliverability:read", 200, 400),
  of("POST /v1/deliverability/tests", "deliverability:write", 201, 400, 402, 500, 501, 503),
  of("GET /v1/deliverability/tests", "deliverability:read", 200, 400),
  of("GET /v1/deliverability/tests/{id}", "deliverability:read", 200, 400, 404, 500),
  of("POST /v1/deliverability/monitors", "deliverability:write", 200, 201, 400, 409, 413),
  of("GET /v1/deliverability/monitors", "deliverability:read", 200, 400),
  of("DELETE /v1/deliverability/monitors/{id}", "deliverability:write", 200, 400, 404),
  of("GET /v1/webhooks/{id}/deliveries", "webhooks:read", 200, 400, 404),
  of("POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry", "webhooks:write", 202, 400, 404, 409),
  of("POST /v1/webhooks/{id}/replay", "webhooks:write", 202, 400, 404, 409),
  of("GET /v1/events", "events:read", 200, 400),
  of("GET /v1/account", "account:read", 200, 400),
  of("DELETE /v1/data", "verification:write", 200, 202, 400, 503),
  of("GET /v1/account/usage", "account:read", 200, 400),
  of("GET /v1/account/ledger", "account:read", 200, 400),
  of("GET /v1/requests", "account:read", 200, 400),
  of("GET /v1/api-keys", "unrestricted", 200, 400),
  of("POST /v1/api-keys", "unrestricted", 201, 400, 409, 413),
  of("DELETE /v1/api-keys/{id}", "unrestricted", 200, 400, 404),
  of("GET /v1/catalog", "public", 200, 400),
];

/** What the contract's operations take, in path, query and body, as the contract lists it. */
export const CONTRACT_FIELDS: readonly string[] = `
email include_activity options deep_verify include_ai timeout_ms emails webhook_url webhook_secret name
action file_name file_key file email_column has_header
limit status offset id include_results next_key format filter
first_name last_name domain sending_ip refresh url events`.split(/\s+/);

export const CONTRACT_EVENTS: readonly string[] = `
job.completed job.failed credits.low credits.depleted blacklist.detected dmarc.failed`.split(/\s+/);

/** What is not built yet. It only ever gets shorter; a product that is ready has nothing here. */
export const NOT_BUILT_YET: readonly string[] = [];
