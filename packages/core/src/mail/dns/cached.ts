import type { Dns, DnsOutcome, RecordOf, RecordType } from "./dns.ts";

type Outcome = DnsOutcome<RecordOf[RecordType]>;
type Entry = { readonly outcome: Promise<Outcome>; readonly untilMs: number };
type Options = { readonly now: () => Date; readonly entriesMax: number };

/**
 * How long an outcome is good for after it came. A record's own TTL is not told to us, so these are short. A
 * fault is kept just long enough that a list full of one dead domain does not wait for it a thousand times,
 * and not as long as any retry waits.
 */
const KEPT_MS: Record<Outcome["kind"], number> = {
  ok: 300_000,
  nodata: 60_000,
  nxdomain: 60_000,
  servfail: 5_000,
  refused: 5_000,
  timeout: 5_000,
};

const IN_FLIGHT = Number.POSITIVE_INFINITY;

/**
 * Asks a question once while it is in flight, and remembers what it came to. Put a deadline outside of this and
 * never inside: one caller's impatience must not become another caller's answer.
 */
export const cachedDns = (dns: Dns, { now, entriesMax }: Options): Dns => {
  // A Map keeps the order of writing, so writing an entry again when it is used makes the first the oldest.
  const entries = new Map<string, Entry>();

  const keep = (key: string, entry: Entry): void => {
    entries.delete(key);
    entries.set(key, entry);
    const oldest = entries.keys().next();
    if (entries.size > entriesMax && !oldest.done) entries.delete(oldest.value);
  };

  const ask = (key: string, type: RecordType, name: string): Promise<Outcome> => {
    const outcome: Promise<Outcome> = dns(type, name);
    const settle = (untilMs: number): void => {
      // Pushed out while it was in flight: then it stays out.
      if (entries.get(key)?.outcome === outcome) entries.set(key, { outcome, untilMs });
    };
    keep(key, { outcome, untilMs: IN_FLIGHT });
    outcome.then(
      ({ kind }) => settle(now().getTime() + KEPT_MS[kind]),
      // A door that breaks its promise never to reject must not leave its failure here for ever.
      () => settle(0),
    );
    return outcome;
  };

  return <T extends RecordType>(type: T, name: string) => {
    const key = `${type} ${name.toLowerCase()}`;
    const entry = entries.get(key);
    const fresh = entry && now().getTime() < entry.untilMs;
    if (fresh) keep(key, entry);
    // The type is part of the key, so what is under it has records of that type.
    return (fresh ? entry.outcome : ask(key, type, name)) as Promise<DnsOutcome<RecordOf[T]>>;
  };
};
