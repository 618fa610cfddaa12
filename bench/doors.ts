import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Item } from "@mailproof/core/table";
import { sqliteQueue } from "@mailproof/local/sqlite-queue";
import { sqliteTable } from "@mailproof/local/sqlite-table";
import { held, type Measured, median } from "./report.ts";

// What the embedded doors do on this disk, with every acknowledged write flushed (synchronous = FULL).

const SECONDS = 2;
const RUNS = 3;
const IN_FLIGHT = 200;

const now = () => new Date();

/** How often per second `act` gets done, with so many under way at once: the median of some runs. */
const rateOf = async (inFlight: number, act: (n: number) => Promise<unknown>): Promise<number> => {
  const rates: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    let done = 0;
    const start = performance.now();
    const end = start + SECONDS * 1000;
    const worker = async () => {
      while (performance.now() < end) await act(done++);
    };
    await Promise.all(Array.from({ length: inFlight }, worker));
    rates.push(done / ((performance.now() - start) / 1000));
  }
  return median(rates);
};

export const run = async (): Promise<readonly Measured[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const table = sqliteTable(join(folder, "state.sqlite"), now);
  const queue = sqliteQueue(join(folder, "queue.sqlite"), now);
  try {
    const balance: Item = { pk: "BALANCE#a", sk: "BALANCE", available: 1e12, debited: 0 };
    await table.write({ put: balance });
    let entries = 0;
    const charge = () =>
      table.transact([
        {
          update: balance,
          add: { available: -1, debited: 1 },
          leaving: { available: { atLeast: 0 } },
        },
        { create: { pk: "LEDGER#a", sk: String(entries++), kind: "charge", amount: 1 } },
      ]);
    const charged = await rateOf(IN_FLIGHT, charge);
    const chargedAlone = await rateOf(1, charge);
    const got = await rateOf(IN_FLIGHT, (n) =>
      table.get({ pk: "LEDGER#a", sk: String(n % entries) }),
    );
    const listed = await rateOf(1, () => table.query({ pk: "LEDGER#a", limit: 100 }));
    const facts = { name: "chunks", visibilitySeconds: 60, receivesMax: 5, atOnce: 10 };
    const ten = Array.from({ length: 10 }, (_row, chunk) => ({ body: { job: "job_1", chunk } }));
    const passed = await rateOf(4, async () => {
      await queue.sendMany("chunks", ten);
      const received = await queue.receive(facts, { waitMs: 0 });
      await Promise.all(received.map(({ receipt }) => queue.done(receipt)));
    });
    return [
      held("doorsWrites", charged),
      { what: "transactions of two writes, one by one", value: chargedAlone, unit: "per second" },
      held("doorsGets", got),
      { what: "pages of 100 items", value: listed, unit: "per second" },
      { what: "messages sent, received and done", value: passed * 10, unit: "per second" },
    ];
  } finally {
    table.close();
    queue.close();
    rmSync(folder, { recursive: true });
  }
};
