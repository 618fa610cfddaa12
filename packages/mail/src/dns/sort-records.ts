import type { Dns, MxRecordData } from "./dns.ts";

/**
 * Sorts the records of an answer, which name servers rotate. Code that uses the first of several records must find the same one the next
 * time.
 */
export const sortRecords =
  (dns: Dns): Dns =>
  async (type, name) => {
    const outcome = await dns(type, name);
    if (outcome.kind !== "ok") return outcome;
    return { ...outcome, records: outcome.records.toSorted(compareByText) };
  };

const compareByText = (one: string | MxRecordData, other: string | MxRecordData): number => {
  const [a, b] = [toText(one), toText(other)];
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

const PRIORITY_DIGITS = 5;

const toText = (record: string | MxRecordData): string =>
  typeof record === "string"
    ? record
    : `${String(record.priority).padStart(PRIORITY_DIGITS, "0")} ${record.exchange}`;
