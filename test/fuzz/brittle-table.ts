import type { Table } from "@mailproof/core/ports/table";
import { rejectDown } from "../faulty-worlds.ts";

/** Requests call the table about so often. */
export const CALLS_MAX = 12;

/** A table that breaks where `breakAt` says. */
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
    // Nothing was written, and the caller cannot know.
    transact: async (writes) => (shouldBreak() ? { outcome: "ambiguous" } : sound.transact(writes)),
  };
  return {
    port: table,
    /** After so many calls; null: never. From there on nothing of this request gets through. */
    breakAt: (calls: number | null): void => {
      left = calls;
      isBroken = false;
    },
    isBroken: () => isBroken,
  };
};
