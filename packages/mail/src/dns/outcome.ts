import type { DnsOutcome } from "./dns.ts";

/** Besides records, only nxdomain and nodata prove something about a domain. */
export const isAbsent = ({ kind }: DnsOutcome<unknown>): boolean =>
  kind === "nodata" || kind === "nxdomain";

export const isFault = ({ kind }: DnsOutcome<unknown>): boolean =>
  ["servfail", "refused", "timeout", "too_large", "internal"].includes(kind);

export const getRecords = <T>(outcome: DnsOutcome<T>): readonly T[] =>
  outcome.kind === "ok" ? outcome.records : [];
