import type { DnsTrouble, Records, Zone } from "../zone.ts";

/** One document of the RFC 7208 test suite. */
export type Document = {
  readonly description: string;
  readonly tests: Readonly<Record<string, Case>>;
  readonly zonedata: ZoneData;
};

export type Case = {
  readonly host: string;
  readonly helo: string;
  readonly mailfrom: string;
  /** Several where the RFC leaves it open. */
  readonly result: string | readonly string[];
  readonly explanation?: string;
};

type ZoneData = Readonly<Record<string, readonly Entry[]>>;
type Entry = "TIMEOUT" | Readonly<Record<string, Value>>;
/** Several strings are one TXT record of several, or an MX with its preference. */
type Value = string | readonly (string | number)[];

/** `silence` is what stands for a server that does not answer. */
export const toZone = (zonedata: ZoneData, silence: DnsTrouble): Zone =>
  Object.fromEntries(
    Object.entries(zonedata).map(([name, entries]) => [name, listRecords(entries, silence)]),
  );

const listRecords = (entries: readonly Entry[], silence: DnsTrouble): Records | DnsTrouble => {
  const records = entries.filter((entry) => entry !== "TIMEOUT");
  // Beside records it is the questions for other types that have no answer.
  const isSilent = records.length < entries.length;
  if (records.length === 0) return silence;
  const of = (type: string) =>
    records.flatMap((record) => (type in record ? [record[type] ?? ""] : []));

  // What is published as the retired type SPF stands as TXT too, unless there is TXT, or TXT is "NONE".
  const txt = of("TXT").length > 0 ? of("TXT").filter((value) => value !== "NONE") : of("SPF");
  const supportedTypes: Records = {
    A: of("A").map(String),
    AAAA: of("AAAA").map(String),
    MX: of("MX").map(([preference, exchange]: Value) => `${preference} ${bare(exchange) || "."}`),
    PTR: of("PTR").map(bare),
    CNAME: of("CNAME").map(bare),
    TXT: txt.map((value) => [value].flat().join("")),
  };
  const supported = Object.entries(supportedTypes).map(([type, values]) => [
    type,
    values.length === 0 && isSilent ? silence : values,
  ]);
  return Object.fromEntries(supported.filter(([, values]) => values?.length !== 0)) as Records;
};

const bare = (name: Value | number | undefined): string => String(name ?? "").replace(/\.$/, "");
