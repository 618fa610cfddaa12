import { SCOPES, type Scope } from "../accounts/scopes.ts";

/** The roles of an account's members, strongest first. */
export const ROLES = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof ROLES)[number];

/** The part of the service that a member is limited to. */
export const AREAS = ["lists", "domains"] as const;
export type Area = (typeof AREAS)[number];

type Rights = {
  /** Null: no scope limits the role, so it also manages API keys. */
  readonly scopes: readonly Scope[] | null;
  /** The roles that it may invite, change and remove. */
  readonly manages: readonly Role[];
};

const READ_SCOPES = SCOPES.filter((scope) => scope.endsWith(":read"));

export const RIGHTS: Readonly<Record<Role, Rights>> = {
  owner: { scopes: null, manages: ROLES },
  admin: { scopes: SCOPES, manages: ["admin", "member", "viewer"] },
  member: { scopes: SCOPES, manages: [] },
  viewer: { scopes: READ_SCOPES, manages: [] },
};

const AREA_SCOPES: Readonly<Record<Area, readonly Scope[]>> = {
  lists: ["verification:read", "verification:write", "account:read"],
  domains: ["deliverability:read", "deliverability:write", "account:read"],
};

/** The scopes of a member with this role. Owners have no limits. */
export const listMemberScopes = (role: Role, area: Area | undefined): Rights["scopes"] => {
  const { scopes } = RIGHTS[role];
  return scopes === null || area === undefined
    ? scopes
    : scopes.filter((scope) => AREA_SCOPES[area].includes(scope));
};

export const mayManageRole = (own: Role, other: Role): boolean =>
  RIGHTS[own].manages.includes(other);
