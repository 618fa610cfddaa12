import type { Table } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { withTimeout } from "./timeout.ts";

export type ItemStore = Pick<Table, "get" | "write">;

const TABLE_MS = 3_000;

/** Rejects a call that the table does not answer in time. The table may still complete a late write. */
export const limitTime = (table: ItemStore, ports: Pick<World, "sleep">): ItemStore => {
  const inTime = async <Result>(call: Promise<Result>): Promise<Result> => {
    const result = await withTimeout(ports, TABLE_MS, call);
    if (result === "late") throw new Error("the table does not answer in time");
    return result;
  };
  return { get: (key) => inTime(table.get(key)), write: (write) => inTime(table.write(write)) };
};
