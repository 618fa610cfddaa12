import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toAccountItem } from "@mailproof/core/accounts/account-items";
import { audit } from "@mailproof/core/background/audit";
import { toBalanceKey } from "@mailproof/core/money/balance";
import type { Halves } from "@mailproof/core/money/credits";
import {
  type LedgerEntry,
  toEntryItem,
  toUsageChanges,
  toUsageKey,
} from "@mailproof/core/money/items";
import type { MovedAmounts } from "@mailproof/core/money/moves";
import type { Key, Table, Write } from "@mailproof/core/ports/table";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { createRow, type ReportRow } from "./report.ts";

// The audit of an account with a million ledger entries in two years: the first run, which reads them all and closes the
// months that are over, and a later one, which reads the closings and the open months.

const ENTRIES = 1_000_000;
const MONTHS = 24;
const WRITES = 100;
const IN_FLIGHT = 50;

const ACCOUNT = "acc_bench";
const START = new Date("2026-01-01T00:00:00.000Z");
const NOW = new Date("2027-12-31T23:59:59.999Z");
const PRICE = 2 as Halves;

/** One verification: its price was held, and then settled. */
const createOperation = (number: number): LedgerEntry[] => {
  const part = (number * 2) / ENTRIES;
  const openedAt = new Date(START.getTime() + part * (NOW.getTime() - START.getTime()));
  const origin = {
    account: ACCOUNT,
    operation: `job_01JD${String(number).padStart(20, "0")}`,
    openedAt: openedAt.toISOString(),
    reason: "verify" as const,
    countedIn: undefined,
  };
  const create = (step: LedgerEntry["step"], moved: MovedAmounts): LedgerEntry => ({
    ...origin,
    step,
    at: origin.openedAt,
    moved,
  });
  return [create("debit", { hold: PRICE }), create("end", { settle: PRICE })];
};

/** The sums of a day, which the audit compares with its entries. */
type Usage = { readonly key: Key; readonly sums: Record<string, number> };

const fillLedger = async (table: Table): Promise<void> => {
  const operations = ENTRIES / 2;
  const spent = operations * PRICE;
  await table.write({
    put: toAccountItem({
      account: ACCOUNT,
      name: "Bench",
      plan: "scale",
      createdAt: START.toISOString(),
    }),
  });
  const balance = { available: 0, held: 0, spent, granted: spent, debited: spent, refunded: 0 };
  await table.write({ put: { ...toBalanceKey(ACCOUNT), ...balance, lowThreshold: 0 } });
  const opening: LedgerEntry = {
    account: ACCOUNT,
    operation: "txn_1",
    openedAt: START.toISOString(),
    at: START.toISOString(),
    step: "grant",
    moved: { grant: spent as Halves },
    reason: "opening" as const,
    countedIn: undefined,
  };
  const days = new Map<string, Usage>();
  const toWrite = (entry: LedgerEntry): Write => {
    const key = toUsageKey(ACCOUNT, entry.openedAt);
    const usage = days.get(key.sk) ?? { key, sums: {} };
    days.set(key.sk, usage);
    for (const [field, by] of Object.entries(toUsageChanges(entry)))
      usage.sums[field] = (usage.sums[field] ?? 0) + by;
    return { create: toEntryItem(entry) };
  };
  await table.write(toWrite(opening));
  let next = 0;
  const fill = async (): Promise<void> => {
    while (next < operations) {
      const writes: Write[] = [];
      while (next < operations && writes.length < WRITES)
        writes.push(...createOperation(next++).map(toWrite));
      await table.transact(writes);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, fill));
  for (const { key, sums } of days.values()) await table.write({ put: { ...key, ...sums } });
};

const toSeconds = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1e6;

/** Seconds of processor time, entries read, and by how much the process grew. */
const measureAudit = async (table: Table) => {
  let entries = 0;
  const before = process.memoryUsage.rss();
  let most = before;
  const watched: Table = {
    ...table,
    query: async (query) => {
      const page = await table.query(query);
      if (query.pk.startsWith("LEDGER#")) entries += page.items.length;
      most = Math.max(most, process.memoryUsage.rss());
      return page;
    },
  };
  const start = process.cpuUsage();
  const { ok } = await audit(watched, NOW);
  if (!ok) throw new Error("the ledger is broken");
  return {
    seconds: toSeconds(process.cpuUsage(start)),
    entries,
    megabytes: (most - before) / 2 ** 20,
  };
};

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const table = createSqliteTable(join(folder, "state.sqlite"), () => NOW);
  try {
    await fillLedger(table);
    const first = await measureAudit(table);
    const later = await measureAudit(table);
    const perMillion = 1_000_000 / first.entries;
    return [
      createRow("auditFirst", first.seconds * perMillion),
      createRow("auditLater", later.seconds),
      createRow("auditMemory", Math.max(first.megabytes, later.megabytes)),
      { what: "entries read by the first run", value: first.entries, unit: "entries" },
      {
        what: `entries read by a later run, of ${MONTHS} months`,
        value: later.entries,
        unit: "entries",
      },
    ];
  } finally {
    table.close();
    rmSync(folder, { recursive: true });
  }
};
