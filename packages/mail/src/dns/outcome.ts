import type { DnsOutcome } from "./dns.ts";

/** Nothing of the kind exists: the only outcomes, besides records, that say something about a domain. */
export const isAbsent = ({ kind }: DnsOutcome<unknown>): boolean =>
  kind === "nodata" || kind === "nxdomain";

/** We could not find out. */
export const isFault = ({ kind }: DnsOutcome<unknown>): boolean =>
  ["servfail", "refused", "timeout", "too_large", "internal"].includes(kind);

export const getRecords = <T>(outcome: DnsOutcome<T>): readonly T[] =>
  outcome.kind === "ok" ? outcome.records : [];
