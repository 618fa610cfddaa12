type Operation = {
  /** As the contract writes it, with the braces named as ours are. */
  readonly route: string;
  readonly statuses: readonly number[];
};

const of = (route: string, ...statuses: readonly number[]): Operation => ({ route, statuses });

/** Every operation of the contract and every status that it documents for it. */
export const CONTRACT: readonly Operation[] = [
  of("GET /health", 200, 503),
  of("POST /v1/verify", 200, 400, 401, 402, 403, 409, 429, 500, 503),
  of("POST /v1/verify/batch", 202, 400, 401, 402, 403, 409, 413, 429, 500, 503),
  of("POST /v1/verify/file", 200, 202, 400, 401, 402, 403, 404, 409, 413, 429, 500, 503),
  of("GET /v1/jobs", 200, 400, 401, 403, 429),
  of("GET /v1/jobs/{id}", 200, 400, 401, 403, 404, 429),
  of("GET /v1/jobs/{id}/download", 200, 400, 401, 403, 404, 409, 429),
  of("POST /v1/find", 200, 400, 401, 402, 403, 429, 500, 503),
  of("GET /v1/activity/{email}", 200, 400, 401, 403, 429),
  of("POST /v1/activity/batch", 200, 400, 401, 403, 429),
  of("GET /v1/activity/domain/{domain}", 200, 400, 401, 403, 429),
  of("POST /v1/deliverability/check", 200, 400, 401, 402, 403, 409, 429, 500, 503),
  of("GET /v1/deliverability/checks", 200, 400, 401, 403, 429),
  of("GET /v1/deliverability/checks/{id}", 200, 400, 401, 403, 404, 429),
  of("GET /v1/webhooks", 200, 400, 401, 403, 429),
  of("POST /v1/webhooks", 201, 400, 401, 403, 429),
  of("PUT /v1/webhooks/{id}", 200, 400, 401, 403, 404, 429),
  of("DELETE /v1/webhooks/{id}", 200, 401, 403, 404, 429),
  of("POST /v1/webhooks/{id}/test", 200, 400, 401, 403, 404, 429),
  of("POST /v1/webhooks/{id}/secret", 200, 401, 403, 404, 429),
  of("GET /v1/webhooks/events", 200, 401, 403, 429),
];

/** Ours: each endpoint says in `addition` why it is there. */
export const OURS: readonly Operation[] = [
  of("GET /v1/jobs/{id}/results/{row}", 200, 400, 401, 403, 404, 429),
  of("POST /v1/jobs/{id}/cancel", 200, 400, 401, 403, 404, 409, 429, 503),
  of("DELETE /v1/jobs/{id}", 200, 400, 401, 403, 404, 409, 429, 503),
  of("GET /v1/jobs/{id}/callbacks", 200, 400, 401, 403, 404, 429),
  of("POST /v1/activity/events", 200, 400, 401, 403, 413, 429, 503),
  of("POST /v1/deliverability/reports", 200, 201, 400, 401, 403, 409, 413, 429, 503),
  of("GET /v1/deliverability/domains/{domain}", 200, 400, 401, 403, 429),
  of("GET /v1/deliverability/domains/{domain}/reports", 200, 400, 401, 403, 429),
  of("POST /v1/deliverability/tests", 201, 400, 401, 402, 403, 429, 500, 501, 503),
  of("GET /v1/deliverability/tests", 200, 400, 401, 403, 429),
  of("GET /v1/deliverability/tests/{id}", 200, 400, 401, 403, 404, 429, 500),
  of("POST /v1/deliverability/monitors", 200, 201, 400, 401, 403, 409, 413, 429),
  of("GET /v1/deliverability/monitors", 200, 400, 401, 403, 429),
  of("DELETE /v1/deliverability/monitors/{id}", 200, 400, 401, 403, 404, 429),
  of("GET /v1/webhooks/{id}/deliveries", 200, 400, 401, 403, 404, 429),
  of("POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry", 202, 400, 401, 403, 404, 409, 429),
  of("POST /v1/webhooks/{id}/replay", 202, 400, 401, 403, 404, 409, 429),
  of("GET /v1/events", 200, 400, 401, 403, 429),
  of("GET /v1/account", 200, 400, 401, 403, 429),
  of("DELETE /v1/data", 200, 202, 400, 401, 403, 429, 503),
  of("GET /v1/account/usage", 200, 400, 401, 403, 429),
  of("GET /v1/account/ledger", 200, 400, 401, 403, 429),
  of("GET /v1/requests", 200, 400, 401, 403, 429),
  of("GET /v1/api-keys", 200, 400, 401, 403, 429),
  of("POST /v1/api-keys", 201, 400, 401, 403, 409, 413, 429),
  of("DELETE /v1/api-keys/{id}", 200, 400, 401, 403, 404, 429),
  of("GET /v1/catalog", 200, 400),
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
