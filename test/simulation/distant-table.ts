import type { Table } from "@mailproof/core/ports/table";

/** A table that takes a moment to be asked, and another to answer. */
export const createDistantTable = (table: Table, pause: () => Promise<void>): Table => {
  const distant =
    <Asked extends unknown[], Result>(call: (...asked: Asked) => Promise<Result>) =>
    async (...asked: Asked): Promise<Result> => {
      await pause();
      const result = await call(...asked);
      await pause();
      return result;
    };
  return {
    get: distant((key) => table.get(key)),
    query: distant((query) => table.query(query)),
    write: distant((write) => table.write(write)),
    transact: distant((writes, attempt) => table.transact(writes, attempt)),
  };
};
