import type { Key, Table } from "../ports/table.ts";

/** Returns the number of removed items, 0 or 1. Throws when the reply is lost: the caller repeats the removal. */
export const removeItem = async (table: Pick<Table, "write">, { pk, sk }: Key): Promise<number> => {
  const { outcome } = await table.write({ remove: { pk, sk } });
  if (outcome === "ambiguous") throw new Error("unknown whether an item was removed");
  return outcome === "committed" ? 1 : 0;
};
