/** The scopes of restricted keys. Only unrestricted keys can create keys, so there is no scope for it. */
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
