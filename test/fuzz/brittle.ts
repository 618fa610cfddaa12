import type { Table } from "@mailproof/core/table";
import { down } from "../breaking.ts";

/** Requests knock at the table's doors about so often. */
export const DOORS_MAX = 12;

/** A table that breaks where it is told to. */
export const brittle = (sound: Table) => {
  let left: number | null = null;
  let isBroken = false;
  const breaks = (): boolean => {
    if (left === null || left-- > 0) return false;
    isBroken = true;
    return true;
  };
  const doors: Table = {
    get: (key) => (breaks() ? down() : sound.get(key)),
    query: (query) => (breaks() ? down() : sound.query(query)),
    write: (write) => (breaks() ? down() : sound.write(write)),
    // Nothing was written, and nobody can tell.
    transact: async (writes) => (breaks() ? { outcome: "ambiguous" } : sound.transact(writes)),
  };
  return {
    doors,
    /** After so many knocks; null: never. From there on nothing of this request gets through. */
    breakAt: (knocks: number | null): void => {
      left = knocks;
      isBroken = false;
    },
    isBroken: () => isBroken,
  };
};
