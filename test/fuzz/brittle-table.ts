import type { Table } from "@mailproof/core/ports/table";
import { rejectDown } from "../faulty-worlds.ts";

/** Requests knock at the table's doors about so often. */
export const CALLS_MAX = 12;

/** A table that breaks where it is told to. */
export const createBrittleTable = (sound: Table) => {
  let left: number | null = null;
  let isBroken = false;
  const shouldBreak = (): boolean => {
    if (left === null || left-- > 0) return false;
    isBroken = true;
    return true;
  };
  const table: Table = {
    get: (key) => (shouldBreak() ? rejectDown() : sound.get(key)),
    query: (query) => (shouldBreak() ? rejectDown() : sound.query(query)),
    write: (write) => (shouldBreak() ? rejectDown() : sound.write(write)),
    // Nothing was written, and nobody can tell.
    transact: async (writes) => (shouldBreak() ? { outcome: "ambiguous" } : sound.transact(writes)),
  };
  return {
    doors: table,
    /** After so many knocks; null: never. From there on nothing of this request gets through. */
    breakAt: (knocks: number | null): void => {
      left = knocks;
      isBroken = false;
    },
    isBroken: () => isBroken,
  };
};
