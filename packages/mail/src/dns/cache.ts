import { createBoundedMap } from "../lib/bounded-map.ts";
import type { Dns, DnsOutcome, DnsRecords, DnsRecordType } from "./dns.ts";

type Outcome = DnsOutcome<DnsRecords[DnsRecordType]>;
type Entry = {
  readonly outcome: Promise<Outcome>;
  readonly untilMs: number;
  readonly bytes: number;
};
type CacheOptions = {
  readonly now: () => Date;
  readonly bytesMax: number;
};

/**
 * The lifetime of an outcome in the cache. The resolver does not report a record's own TTL, so these times are short. A fault stays just
 * long enough that a list full of one dead domain does not wait for it a thousand times, and less long than any retry waits.
 */
const CACHE_MS: Record<Outcome["kind"], number> = {
  ok: 300_000,
  nodata: 60_000,
  nxdomain: 60_000,
  servfail: 5_000,
  refused: 5_000,
  timeout: 5_000,
  // A set of records does not shrink in a minute, and each question for it costs a connection.
  too_large: 60_000,
  internal: 0,
};

const IN_FLIGHT = Number.POSITIVE_INFINITY;

/**
 * The heap of an entry besides its text: the entry in the map, its key, a promise and an outcome; and for each record a string or an object
 * with its number. Measured with a hundred thousand of each, and rounded up.
 */
const ENTRY_BYTES = 500;
const RECORD_BYTES = 64;

/** Each letter takes one byte: names are ASCII here, and TXT is Latin-1. */
const measureBytes = (key: string, outcome?: Outcome): number => {
  const records = outcome?.kind === "ok" ? outcome.records : [];
  return records.reduce<number>(
    (sum, record) => sum + RECORD_BYTES + toText(record).length,
    ENTRY_BYTES + key.length,
  );
};

const toText = (record: DnsRecords[DnsRecordType]): string =>
  typeof record === "string" ? record : record.exchange;

/**
 * Shares a question in flight among its callers, and caches its outcome. Put a deadline outside of this cache and never inside: one
 * caller's deadline must not decide another caller's answer.
 */
export const cacheDns = (dns: Dns, { now, bytesMax }: CacheOptions): Dns => {
  const entries = createBoundedMap<Entry>({ weightMax: bytesMax, weigh: ({ bytes }) => bytes });

  const query = (key: string, type: DnsRecordType, name: string): Promise<Outcome> => {
    const outcome: Promise<Outcome> = dns(type, name);
    const storeOutcome = (untilMs: number, settled?: Outcome): void => {
      // The cache dropped the entry while the question was in flight, and must not restore it.
      if (entries.get(key)?.outcome !== outcome) return;
      entries.set(key, { outcome, untilMs, bytes: measureBytes(key, settled) });
    };
    entries.set(key, { outcome, untilMs: IN_FLIGHT, bytes: measureBytes(key) });
    outcome.then(
      (settled) => storeOutcome(now().getTime() + CACHE_MS[settled.kind], settled),
      // A port that rejects, against its contract, must not leave its failure in the cache forever.
      () => storeOutcome(0),
    );
    return outcome;
  };

  return <T extends DnsRecordType>(type: T, name: string) => {
    const key = `${type} ${name.toLowerCase()}`;
    const entry = entries.get(key);
    const fresh = entry && now().getTime() < entry.untilMs;
    return (fresh ? entry.outcome : query(key, type, name)) as Promise<DnsOutcome<DnsRecords[T]>>;
  };
};
