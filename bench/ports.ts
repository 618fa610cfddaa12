import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Item } from "@mailproof/core/ports/table";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { computeMedian, createRow, type ReportRow } from "./report.ts";

// What the adapters of one machine do on this disk, with every acknowledged write flushed (synchronous = FULL).

const SECONDS = 2;
const RUNS = 3;
const IN_FLIGHT = 200;

const now = () => new Date();

/** How often per second `act` gets done, with so many under way at once: the median of some runs. */
const measureRate = async (
  inFlight: number,
  act: (n: number) => Promise<unknown>,
): Promise<number> => {
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
  return computeMedian(rates);
};

export const run = async (): Promise<readonly ReportRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-bench-"));
  const table = createSqliteTable(join(folder, "state.sqlite"), now);
  const queue = createSqliteQueue(join(folder, "queue.sqlite"), now);
  try {
    const balance: Item = { pk: "BALANCE#a", sk: "BALANCE", available: 1e12, debited: 0 };
    await table.write({ put: balance });
    let entries = 0;
    const charge = () =>
      table.transact([
        {
          update: balance,
          add: { available: -1, debited: 1 },
          bounds: { available: { atLeast: 0 } },
        },
        { create: { pk: "LEDGER#a", sk: String(entries++), kind: "charge", amount: 1 } },
      ]);
    const charged = await measureRate(IN_FLIGHT, charge);
    const chargedAlone = await measureRate(1, charge);
    const got = await measureRate(IN_FLIGHT, (n) =>
      table.get({ pk: "LEDGER#a", sk: String(n % entries) }),
    );
    const listed = await measureRate(1, () => table.query({ pk: "LEDGER#a", limit: 100 }));
    const queueSettings = {
      name: "chunks",
      visibilitySeconds: 60,
      receivesMax: 5,
      concurrency: 10,
    };
    const ten = Array.from({ length: 10 }, (_row, chunk) => ({ body: { job: "job_1", chunk } }));
    const passed = await measureRate(4, async () => {
      await queue.sendMany("chunks", ten);
      const received = await queue.receive(queueSettings, { waitMs: 0 });
      await Promise.all(received.map(({ receipt }) => queue.acknowledge(receipt)));
    });
    return [
      createRow("portsWrites", charged),
      { what: "transactions of two writes, one by one", value: chargedAlone, unit: "per second" },
      createRow("portsGets", got),
      { what: "pages of 100 items", value: listed, unit: "per second" },
      { what: "messages sent, received and done", value: passed * 10, unit: "per second" },
    ];
  } finally {
    table.close();
    queue.close();
    rmSync(folder, { recursive: true });
  }
};
