export type MxRecordData = { readonly priority: number; readonly exchange: string };

/**
 * Our form of each record type. A TXT record is its character-strings joined, with the bytes as Latin-1. A TLSA record is written as in a
 * zone file: "3 1 1 " and the data in hexadecimal.
 */
export type DnsRecords = {
  readonly A: string;
  readonly AAAA: string;
  readonly MX: MxRecordData;
  readonly TXT: string;
  readonly PTR: string;
  readonly CNAME: string;
  readonly NS: string;
  readonly TLSA: string;
};

export type DnsRecordType = keyof DnsRecords;

/**
 * The outcome of a question. Only `nxdomain` and `nodata` prove something about the domain; the other failures mean that we could not find
 * out, and must never count against an address.
 */
export type DnsOutcome<T> =
  | {
      readonly kind: "ok";
      readonly records: readonly T[];
      /** The resolver validated the answer with DNSSEC (the AD bit). Absent when it did not, or never does. */
      readonly isAuthentic?: true;
    }
  | { readonly kind: "nodata" }
  | { readonly kind: "nxdomain" }
  | { readonly kind: "servfail" }
  | { readonly kind: "refused" }
  | { readonly kind: "timeout" }
  | { readonly kind: "too_large" }
  | { readonly kind: "internal" };

/** The DNS port. It never rejects: a failure is an outcome. `name` is in A-labels, without a final dot. */
export type Dns = <T extends DnsRecordType>(
  type: T,
  name: string,
) => Promise<DnsOutcome<DnsRecords[T]>>;

/** Besides records, only nxdomain and nodata prove something about a domain. */
export const isAbsent = ({ kind }: DnsOutcome<unknown>): boolean =>
  kind === "nodata" || kind === "nxdomain";

export const isFault = ({ kind }: DnsOutcome<unknown>): boolean =>
  ["servfail", "refused", "timeout", "too_large", "internal"].includes(kind);

export const getRecords = <T>(outcome: DnsOutcome<T>): readonly T[] =>
  outcome.kind === "ok" ? outcome.records : [];
