/** The scopes of restricted keys. No scope permits creating keys: only unrestricted keys can. */
export const SCOPES = [
  "verification:read",
  "verification:write",
  "activity:read",
  "activity:write",
  "deliverability:read",
  "deliverability:write",
  "webhooks:read",
  "webhooks:write",
  "events:read",
  "account:read",
] as const;

export type Scope = (typeof SCOPES)[number];
