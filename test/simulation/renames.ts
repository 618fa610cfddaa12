import type { Table, Write } from "@mailproof/core/ports/table";
import type { Release } from "../app/release.ts";
import type { Crew } from "./run-script.ts";

// What nobody notices who runs one release alone: it stores something under another name, in whatever it writes and reads.

/** The release, whose stored texts, messages and names of fields have `to` wherever those of others have `from`. */
export const renameStored = (release: Release, from: string, to: string): Crew => {
  const outward = createRename(from, to);
  const inward = createRename(to, from);
  return {
    ...release,
    workers: release.workers.map((worker) => ({
      ...worker,
      handle: (world, body) => worker.handle(world, inward(body)),
    })),
    change: (ctx) => ({
      ...ctx,
      table: { ...ctx.table, ...renameInTable(ctx.table, outward, inward) },
      queue: {
        ...ctx.queue,
        sendMany: (name, messages) => ctx.queue.sendMany(name, outward(messages)),
      },
    }),
  };
};

type Rename = <T>(value: T) => T;

const createRename = (from: string, to: string): Rename => {
  const rename = (value: unknown): unknown => {
    if (typeof value === "string") return value.replaceAll(from, to);
    if (Array.isArray(value)) return value.map(rename);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [rename(name), rename(one)]),
    );
  };
  return rename as Rename;
};

const renameInTable = (table: Table, outward: Rename, inward: Rename): Partial<Table> => {
  const transact: Table["transact"] = async (writes, attempt) => {
    const renamed = outward(writes);
    const result = await table.transact(renamed, attempt);
    if (result.outcome !== "refused") return inward(result);
    // Callers compare the write with theirs.
    return { ...result, refusedWrite: writes[renamed.indexOf(result.refusedWrite)] as Write };
  };
  const write: Table["write"] = async (one) => {
    const result = await table.write(outward(one));
    return result.outcome === "refused" ? { ...result, refusedWrite: one } : inward(result);
  };
  return {
    get: async (key) => inward(await table.get(outward(key))),
    query: async (query) => inward(await table.query(outward(query))),
    write,
    transact,
  };
};
