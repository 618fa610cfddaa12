import type { Dns, DnsOutcome } from "@mailproof/mail/dns/dns";
import { isFault } from "@mailproof/mail/dns/outcome";
import type { Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

// Whether DNS answers at all. Every process that asks watches its own outcomes; one that has had no answer for a minute
// writes it down, and the check of health reads it, in whichever process that runs.
//
//   pk       sk    what
//   HEALTH   DNS   present while DNS is dead; expires once nothing asks any more

const DNS_DEAD: Key = { pk: "HEALTH", sk: "DNS" };

const DEAD_AFTER_MS = 60_000;
/** Repeated queries for one domain whose servers are down say nothing about DNS. */
const NAMES_MIN = 3;
const WRITE_EVERY_MS = 30_000;
const WRITTEN_SECONDS = 120;

type FailingState = { readonly sinceMs: number; lastMs: number; readonly names: Set<string> };

export const watchDns = (dns: Dns, { table, now }: Pick<World, "table" | "now">): Dns => {
  let failing: FailingState | null = null;
  let writtenMs: number | null = null;

  const recordAnswer = async (): Promise<void> => {
    failing = null;
    if (writtenMs === null) return;
    writtenMs = null;
    await table.write({ remove: DNS_DEAD });
  };

  const recordFault = async (name: string): Promise<void> => {
    const nowMs = now().getTime();
    // After a pause without queries the minute restarts.
    if (failing === null || nowMs - failing.lastMs > DEAD_AFTER_MS)
      failing = { sinceMs: nowMs, lastMs: nowMs, names: new Set() };
    failing.lastMs = nowMs;
    if (failing.names.size < NAMES_MIN) failing.names.add(name.toLowerCase());
    const isDead = nowMs - failing.sinceMs >= DEAD_AFTER_MS && failing.names.size >= NAMES_MIN;
    if (!isDead || (writtenMs !== null && nowMs - writtenMs < WRITE_EVERY_MS)) return;
    writtenMs = nowMs;
    const expires_at = Math.ceil(nowMs / 1000) + WRITTEN_SECONDS;
    await table.write({ put: { ...DNS_DEAD, expires_at } });
  };

  const record = (name: string, outcome: DnsOutcome<unknown>): Promise<void> =>
    // One that is too large was an answer all the same.
    isFault(outcome) && outcome.kind !== "too_large" ? recordFault(name) : recordAnswer();

  return async (type, name) => {
    const outcome = await dns(type, name);
    // No question waits for this, and none fails with it: a table that is down is another check's matter.
    void record(name, outcome).catch(() => undefined);
    return outcome;
  };
};

export const isDnsDead = async ({ get }: Pick<Table, "get">): Promise<boolean> =>
  (await get(DNS_DEAD)) !== undefined;
