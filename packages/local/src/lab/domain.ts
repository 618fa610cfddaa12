import type { Manner } from "./manner.ts";
import type { Failing, Records } from "./zone.ts";

export type Status = "valid" | "invalid" | "risky" | "unknown" | "catch_all";

/** An address to try, as its local part, and what a verifier should make of it. */
export type Example = readonly [local: string, status: Status, reason: string];

/** What stands behind a name that an MX record gives. */
export type Target =
  | Manner
  /** An address of its own, at which nobody listens. */
  | "closed"
  | { readonly address: string }
  | { readonly cname: string }
  | { readonly fails: Failing };

/** One domain of the lab: what it shows, what to expect of it, and how it comes about. */
export type LabDomain = {
  /** The label below the zone, as it is written by people. */
  readonly name: string;
  readonly shows: string;
  readonly examples: readonly Example[];
  /** Preference and host. The host is relative to the domain; with a final dot, to the zone; "" is null MX. */
  readonly mx?: readonly (readonly [preference: number, host: string])[];
  /** By the same names as in `mx`; "@" is the domain itself. */
  readonly hosts?: Readonly<Record<string, Target>>;
  /** Names another domain of the lab that this one is an alias of. */
  readonly aliasOf?: string;
  /** The domain's other records; or how its name fails, and "NXDOMAIN" is not to be in the zone at all. */
  readonly records?: Records | Failing | "NXDOMAIN";
};

export const isManner = (target: Target): target is Manner =>
  typeof target === "object" && "rcpt" in target;
