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

/** The parts of the service that members, and people without the role owner, may be limited to. */
export const AREAS = ["lists", "domains"] as const;
export type Area = (typeof AREAS)[number];

export const AREA_SCOPES: Readonly<Record<Area, readonly Scope[]>> = {
  lists: ["verification:read", "verification:write", "account:read"],
  domains: ["deliverability:read", "deliverability:write", "account:read"],
};
