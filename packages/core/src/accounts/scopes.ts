/** What a key can be limited to. Minting keys is for unrestricted keys alone and so has no scope. */
export const SCOPES = [
  "verification:read",
  "verification:write",
  "activity:read",
  "activity:write",
  "deliverability:read",
  "deliverability:write",
  "webhooks:read",
  "webhooks:write",
  "account:read",
] as const;

export type Scope = (typeof SCOPES)[number];
