export type MxRecordData = { readonly priority: number; readonly exchange: string };

/**
 * What a record of each type is to us. A TXT record is its character-strings joined, bytes as latin-1. A TLSA record is
 * written as in a zone file: "3 1 1 " and the data in hexadecimal.
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
 * What a question came to. Only `nxdomain` and `nodata` say something about the domain; the others say that
 * we could not find out, and may never count against an address.
 */
export type DnsOutcome<T> =
  | {
      readonly kind: "ok";
      readonly records: readonly T[];
      /** The resolver validated the answer with DNSSEC (the AD bit). Absent: not validated, or a resolver that never does. */
      readonly isAuthentic?: true;
    }
  | { readonly kind: "nodata" }
  | { readonly kind: "nxdomain" }
  | { readonly kind: "servfail" }
  | { readonly kind: "refused" }
  | { readonly kind: "timeout" }
  /** There is an answer, but it holds more than any verdict needs, and it was not read. */
  | { readonly kind: "too_large" }
  /** This machine lacked what it needs to ask: descriptors, memory or ports. Nothing was asked. */
  | { readonly kind: "internal" };

/** The DNS port. Never rejects: a failure is an outcome. `name` is in A-labels, without a final dot. */
export type Dns = <T extends DnsRecordType>(
  type: T,
  name: string,
) => Promise<DnsOutcome<DnsRecords[T]>>;
