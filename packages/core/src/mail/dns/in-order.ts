import type { Dns, Mx } from "./dns.ts";

/**
 * Name servers deal out the records of an answer in turns. Whoever looks at the first of several must not find
 * something else the next time.
 */
export const inOrder =
  (dns: Dns): Dns =>
  async (type, name) => {
    const outcome = await dns(type, name);
    if (outcome.kind !== "ok") return outcome;
    return { kind: "ok", records: outcome.records.toSorted(byText) };
  };

const byText = (one: string | Mx, other: string | Mx): number => {
  const [a, b] = [textOf(one), textOf(other)];
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

const PRIORITY_DIGITS = 5;

const textOf = (record: string | Mx): string =>
  typeof record === "string"
    ? record
    : `${String(record.priority).padStart(PRIORITY_DIGITS, "0")} ${record.exchange}`;
