import type { Dns, DnsOutcome, DnsRecords, DnsRecordType } from "./dns.ts";

/** One question and its outcome: evidence that lets a reader check a verdict by hand. */
export type RecordedQuery = {
  readonly type: DnsRecordType;
  readonly name: string;
  readonly kind: DnsOutcome<never>["kind"];
  readonly records: readonly DnsRecords[DnsRecordType][];
  readonly count: number;
};

/** A verdict needs no more records; a hostile answer may hold thousands. */
const RECORDS_MAX = 20;

export const recordQueries = (
  dns: Dns,
): { readonly dns: Dns; readonly queries: readonly RecordedQuery[] } => {
  const queries: RecordedQuery[] = [];
  const query: Dns = async (type, name) => {
    const outcome = await dns(type, name);
    const records = outcome.kind === "ok" ? outcome.records : [];
    const { kind } = outcome;
    queries.push({
      type,
      name,
      kind,
      records: records.slice(0, RECORDS_MAX),
      count: records.length,
    });
    return outcome;
  };
  return { dns: query, queries };
};
