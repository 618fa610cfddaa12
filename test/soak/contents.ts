import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The bytes of the table's file with its log, and of all stored files. */
export const measureFiles = (state: string) => {
  const getBytes = (pattern: string): number =>
    globSync(pattern, { cwd: state }).reduce((sum, file) => {
      const found = statSync(join(state, file), { throwIfNoEntry: false });
      return sum + (found?.isFile() ? found.size : 0);
    }, 0);
  return { table: getBytes(`${TABLE}*`), blobs: getBytes("blobs/**") };
};

const TABLE = "state.sqlite";

/** What makes the table's file as large as it is: by kind of item, how many and how many bytes of text. */
export const describeContents = (state: string): readonly string[] => {
  const { table, blobs } = measureFiles(state);
  const db = new DatabaseSync(join(state, TABLE), { readOnly: true });
  const kinds = db
    .prepare(
      `SELECT substr(pk, 1, instr(pk || '#', '#') - 1) AS kind, count(*) AS items,
         sum(length(CAST(item AS BLOB))) AS text,
         sum(length(pk) + length(sk) + coalesce(length(list_pk) + length(list_sk), 0) + coalesce(length(due_pk) + length(due_sk), 0)) AS keys
       FROM items GROUP BY kind ORDER BY text + keys DESC`,
    )
    .all() as { kind: string; items: number; text: number; keys: number }[];
  const pragma = (name: string) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  const free = pragma("freelist_count") * pragma("page_size");
  db.close();
  const explained = kinds.reduce((sum, { text, keys }) => sum + text + 3 * keys, 0);
  return [
    `the table's file ${megabytes(table)}, of it free ${megabytes(free)}; stored files ${megabytes(blobs)}`,
    `text of items and three times their keys (table and indexes): ${megabytes(explained)}`,
    ...kinds.map(
      ({ kind, items, text }) =>
        `${kind.padEnd(20)} ${String(items).padStart(8)} items ${megabytes(text).padStart(10)}`,
    ),
  ];
};

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
