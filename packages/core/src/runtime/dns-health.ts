import { type Dns, type DnsOutcome, isFault } from "@mailproof/mail/dns/dns";
import type { Key, Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

// Detects that DNS is down. Each process with DNS queries watches its outcomes; after a minute without an answer it writes this
// item, and the health check of any process reads it.
//
//   pk       sk    content
//   HEALTH   DNS   present while DNS is down; expires when no process queries any more

const DNS_DEAD: Key = { pk: "HEALTH", sk: "DNS" };

const DEAD_AFTER_MS = 60_000;
/** Failing queries for one or two domains show broken name servers of those domains, not broken DNS. */
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
    // The minute restarts after a pause without queries.
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
    // A response that was too large still shows that DNS answers.
    isFault(outcome) && outcome.kind !== "too_large" ? recordFault(name) : recordAnswer();

  return async (type, name) => {
    const outcome = await dns(type, name);
    // A query neither waits for this write nor fails with it; the table has its own health check.
    void record(name, outcome).catch(() => undefined);
    return outcome;
  };
};

export const isDnsDead = async ({ get }: Pick<Table, "get">): Promise<boolean> =>
  (await get(DNS_DEAD)) !== undefined;
