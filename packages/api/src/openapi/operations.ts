// How each operation is called in the document, and so in every generated client.

export const TAGS = {
  Verification: "Tell whether addresses can receive mail: one, a list, or a file.",
  Jobs: "Follow what takes longer, read its results, and take them home.",
  Find: "Find a person's work address.",
  Activity: "What is known of an address's opens and clicks, and of a domain's reputation.",
  Deliverability: "How a domain is set up to send mail, once or watched.",
  Webhooks: "Be told when something happens.",
  Account: "Plan, credits, usage and keys.",
  Service: "What anybody may ask, without a key.",
} as const;

export type Tag = keyof typeof TAGS;

type Named = { readonly id: string; readonly tag: Tag };

const of = (id: string, tag: Tag): Named => ({ id, tag });

export const OPERATIONS: Readonly<Record<string, Named>> = {
  "GET /health": of("getHealth", "Service"),
  "GET /v1/catalog": of("getCatalog", "Service"),

  "POST /v1/verify": of("verifyEmail", "Verification"),
  "POST /v1/verify/batch": of("verifyBatch", "Verification"),
  "POST /v1/verify/file": of("verifyFile", "Verification"),

  "GET /v1/jobs": of("listJobs", "Jobs"),
  "GET /v1/jobs/{id}": of("getJob", "Jobs"),
  "GET /v1/jobs/{id}/download": of("downloadJob", "Jobs"),
  "GET /v1/jobs/{id}/callbacks": of("listCallbacks", "Jobs"),

  "POST /v1/find": of("findEmail", "Find"),

  "GET /v1/activity/{email}": of("getActivity", "Activity"),
  "POST /v1/activity/batch": of("getActivityBatch", "Activity"),
  "GET /v1/activity/domain/{domain}": of("getDomainReputation", "Activity"),
  "POST /v1/activity/events": of("recordActivity", "Activity"),

  "POST /v1/deliverability/check": of("checkDomain", "Deliverability"),
  "GET /v1/deliverability/checks": of("listChecks", "Deliverability"),
  "GET /v1/deliverability/checks/{id}": of("getCheck", "Deliverability"),
  "POST /v1/deliverability/monitors": of("createMonitor", "Deliverability"),
  "GET /v1/deliverability/monitors": of("listMonitors", "Deliverability"),
  "DELETE /v1/deliverability/monitors/{id}": of("deleteMonitor", "Deliverability"),

  "GET /v1/webhooks": of("listWebhooks", "Webhooks"),
  "POST /v1/webhooks": of("createWebhook", "Webhooks"),
  "PUT /v1/webhooks/{id}": of("updateWebhook", "Webhooks"),
  "DELETE /v1/webhooks/{id}": of("deleteWebhook", "Webhooks"),
  "POST /v1/webhooks/{id}/test": of("testWebhook", "Webhooks"),
  "POST /v1/webhooks/{id}/secret": of("rotateWebhookSecret", "Webhooks"),
  "GET /v1/webhooks/events": of("listWebhookEvents", "Webhooks"),
  "GET /v1/webhooks/{id}/deliveries": of("listDeliveries", "Webhooks"),
  "POST /v1/webhooks/{id}/deliveries/{delivery_id}/retry": of("retryDelivery", "Webhooks"),

  "GET /v1/account": of("getAccount", "Account"),
  "GET /v1/account/usage": of("getUsage", "Account"),
  "GET /v1/api-keys": of("listApiKeys", "Account"),
  "POST /v1/api-keys": of("createApiKey", "Account"),
  "DELETE /v1/api-keys/{id}": of("revokeApiKey", "Account"),
};

/** In the document, and in the names of the shapes that only this operation has. */
export const namedOf = (route: string): Named => {
  const named = OPERATIONS[route];
  if (!named) throw new Error(`openapi/operations.ts has no name for ${route}`);
  return named;
};

export const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1);
