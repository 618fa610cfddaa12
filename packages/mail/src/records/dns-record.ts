import type { Dns, DnsOutcome, DnsRecords, DnsRecordType } from "../dns/dns.ts";
import { getRecords } from "../dns/dns.ts";

/** A DNS record in the form for a DNS provider's web page: the whole name without a final dot, the value without quotes. */
export type DnsRecord = {
  readonly name: string;
  readonly type: "TXT" | "MX" | "A" | "PTR";
  readonly value: string;
};

export type ProposedRecord = {
  readonly record: DnsRecord;
  /** The parts of its name and value, in angle brackets, that only the owner can fill in. Empty when the record is complete. */
  readonly open: readonly string[];
  readonly replaces: readonly DnsRecord[];
  /** The points that the score gains after publication. Null when the check could not compute them. */
  readonly points: number | null;
  readonly note: string | null;
  readonly file: { readonly url: string; readonly content: string } | null;
};

export const propose = (
  record: DnsRecord,
  more: Partial<Omit<ProposedRecord, "record" | "open">> = {},
): ProposedRecord => ({
  replaces: [],
  points: null,
  note: null,
  file: null,
  ...more,
  record,
  open: [...new Set(`${record.name} ${record.value}`.match(/<[^<>]+>/g))],
});

/**
 * Splits a TXT record into its character-strings, which hold at most 255 octets each (RFC 1035 §3.3). Most DNS providers split a long value
 * automatically.
 */
export const toStrings = (value: string): readonly string[] => value.match(/.{1,255}/gs) ?? [""];

export const readTexts = async (dns: Dns, name: string): Promise<readonly string[]> =>
  getRecords(await dns("TXT", name));

export const overlayTexts = (dns: Dns, proposed: readonly ProposedRecord[]): Dns => {
  const added = proposed.map(({ record }) => record);
  const removed = proposed.flatMap(({ replaces }) => replaces);
  return async <T extends DnsRecordType>(type: T, name: string) => {
    const outcome = await dns(type, name);
    const isHere = (record: DnsRecord) =>
      record.type === type && record.name.toLowerCase() === name.toLowerCase();
    const [adds, removes] = [added, removed].map((records) => records.filter(isHere));
    if (type !== "TXT" || !adds || !removes || adds.length + removes.length === 0) return outcome;
    const gone = new Set(removes.map(({ value }) => value));
    const left = (getRecords(outcome) as readonly string[]).filter((text) => !gone.has(text));
    const records = [...left, ...adds.map(({ value }) => value)];
    const after: DnsOutcome<string> =
      records.length > 0 ? { kind: "ok", records } : { kind: "nodata" };
    return after as DnsOutcome<DnsRecords[T]>;
  };
};
