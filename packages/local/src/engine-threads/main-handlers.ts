import type { Table } from "@mailproof/core/ports/table";
import type { Log } from "@mailproof/core/ports/world";
import type { Canaries } from "@mailproof/core/smtp-pool/canaries";
import { addOwnErrors } from "@mailproof/net/local-resource-errors";
import { createSlotHandlers, type SlotCounts } from "./slot-calls.ts";
import { createTableHandlers } from "./table-calls.ts";

export type MainPorts = {
  readonly table: Table;
  readonly log: Log;
  readonly canaries: Canaries;
};

export type MainHandlers = ReturnType<typeof createMainHandlers>;

/** What one engine thread, which `thread` stands for, may call on the main thread. */
export const createMainHandlers = (
  { table, log, canaries }: MainPorts,
  counts: SlotCounts,
  thread: object,
) => ({
  ...createTableHandlers(table),
  ...createSlotHandlers(counts, thread),
  log,
  recordCanary: (...[provider, reply]: Parameters<Canaries["record"]>) =>
    canaries.record(provider, reply),
  addOwnErrors,
});
