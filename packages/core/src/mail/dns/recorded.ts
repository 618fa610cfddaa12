import type { Dns, DnsOutcome, RecordOf, RecordType } from "./dns.ts";

/** One question and what it came to: evidence that lets a verdict be checked by hand. */
export type Asked = {
  readonly type: RecordType;
  readonly name: string;
  readonly kind: DnsOutcome<never>["kind"];
  /** The first of them; `count` says how many there were. */
  readonly records: readonly RecordOf[RecordType][];
  readonly count: number;
};

/** Enough to follow any decision; a stranger's answer may hold thousands. */
const RECORDS_KEPT = 20;

/** A door that writes down what goes through it, in the order of the answers. */
export const recordedDns = (dns: Dns): { readonly dns: Dns; readonly asked: readonly Asked[] } => {
  const asked: Asked[] = [];
  const ask: Dns = async (type, name) => {
    const outcome = await dns(type, name);
    const records = outcome.kind === "ok" ? outcome.records : [];
    const { kind } = outcome;
    asked.push({
      type,
      name,
      kind,
      records: records.slice(0, RECORDS_KEPT),
      count: records.length,
    });
    return outcome;
  };
  return { dns: ask, asked };
};
