import type { HostBehavior } from "./host-behavior.ts";
import type { DnsFailure, Records } from "./zone.ts";

export type LabStatus = "valid" | "invalid" | "risky" | "unknown" | "catch_all";

export type LabExample = readonly [local: string, status: LabStatus, reason: string];

export type HostTarget =
  | HostBehavior
  | "closed"
  | { readonly address: string }
  | { readonly cname: string }
  | { readonly fails: DnsFailure };

export type LabDomain = {
  readonly name: string;
  readonly shows: string;
  readonly examples: readonly LabExample[];
  /** The preference and the host, which is relative to the domain; with a final dot, to the zone; "" is null MX. */
  readonly mx?: readonly (readonly [preference: number, host: string])[];
  /** The hosts by the same names as in `mx`; "@" is the domain itself. */
  readonly hosts?: Readonly<Record<string, HostTarget>>;
  /** The name of the lab's domain that this domain is an alias of. */
  readonly aliasOf?: string;
  /** The domain's other records, or how its name fails; "NXDOMAIN" keeps it out of the zone. */
  readonly records?: Records | DnsFailure | "NXDOMAIN";
};

/** The domains of a table by name. Examples are absent when the domain accepts its own mailboxes and refuses all others. */
export type LabDomains = Readonly<
  Record<string, Omit<LabDomain, "name" | "examples"> & Partial<Pick<LabDomain, "examples">>>
>;

export const isHostBehavior = (target: HostTarget): target is HostBehavior =>
  typeof target === "object" && "rcpt" in target;
