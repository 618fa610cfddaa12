import { AREA_SCOPES, type Area, SCOPES, type Scope } from "../accounts/scopes.ts";

/** The roles of an account's members, strongest first. */
export const ROLES = ["owner", "admin", "member", "viewer"] as const;
export type Role = (typeof ROLES)[number];

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

/** The scopes of a member with this role in the member's area and the account's. No area limits an owner. */
export const listMemberScopes = (
  role: Role,
  ...areas: readonly (Area | undefined)[]
): Rights["scopes"] =>
  RIGHTS[role].scopes?.filter((scope) =>
    areas.every((area) => area === undefined || AREA_SCOPES[area].includes(scope)),
  ) ?? null;

/** A limited member gives no rights to others, because an admin could lift the limit so. Owners set their own. */
export const isLimited = ({ role, area, monthlyHalves }: Limited): boolean =>
  role !== "owner" && (area !== undefined || monthlyHalves !== undefined);

type Limited = {
  readonly role: Role;
  readonly area?: Area | undefined;
  readonly monthlyHalves?: number | undefined;
};

export const mayManageRole = (own: Role, other: Role): boolean =>
  RIGHTS[own].manages.includes(other);
