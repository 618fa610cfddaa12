import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { toEpochSeconds } from "@mailproof/core/lib/time";
import {
  INDEXES,
  type Item,
  readPosition,
  type Table,
  type TableQuery,
  toPosition,
  type Write,
} from "@mailproof/core/ports/table";
import { assertKey, assertQueryable, assertTransactable } from "@mailproof/core/ports/table-limits";
import { applyWrite, getItemKey, mayApply } from "@mailproof/core/ports/writes";
import { createItemCache } from "./item-cache.ts";
import { TABLE_LAYOUT } from "./schema.ts";
import { createGroupCommit, type OnDamage, openSqlite } from "./sqlite.ts";

export type SqliteTable = Table & {
  /** Deletes up to `limit` expired items and returns their number. No read returns them any more. */
  sweep(limit: number): Promise<number>;
  close(): void;
};

export const createSqliteTable = (
  file: string,
  now: () => Date,
  onDamage: OnDamage = () => {},
): SqliteTable => {
  const db = openSqlite(file, TABLE_LAYOUT, onDamage);
  const parseItem = createItemParser(file, onDamage);
  const seconds = () => toEpochSeconds(now());
  const prepareCached = createStatementCache(db);
  const statements = prepareStatements(db);
  const { expire, checkpoint } = statements;
  const cache = createItemCache(db, statements, parseItem, seconds);
  const { commit, close } = createGroupCommit(db, { held: cache });

  /** The item after the write. */
  const store = (write: Write, stored: Item | undefined): Item | undefined => {
    if ("check" in write || "checkAbsent" in write) return stored;
    const next = applyWrite(write, stored);
    if (next || stored) cache.store(getItemKey(write), next, !stored);
    return next;
  };

  return {
    get: async (key) => {
      assertKey(key);
      return cache.get(key);
    },

    query: async (query) => {
      assertQueryable(query);
      const { sql, values } = buildPageQuery(query, seconds());
      // One item more than requested shows whether there is another page.
      const rows = prepareCached(sql).all(...values, query.limit + 1);
      const items = rows.slice(0, query.limit).map((row) => parseItem(row["item"]));
      const last = items.at(-1);
      return rows.length > query.limit && last
        ? { items, next: toPosition(last, query.index) }
        : { items };
    },

    write: async (write, mayBeLost) => {
      assertTransactable([write]);
      return commit(() => {
        const stored = cache.read(getItemKey(write));
        if (!mayApply(write, stored)) return { outcome: "refused", refusedWrite: write } as const;
        return { outcome: "committed", item: store(write, stored) } as const;
      }, mayBeLost);
    },

    transact: async (writes) => {
      assertTransactable(writes);
      return commit(() => {
        const stored = writes.map((write) => cache.read(getItemKey(write)));
        const refused = writes.find((write, position) => !mayApply(write, stored[position]));
        if (refused) return { outcome: "refused", refusedWrite: refused } as const;
        const items = writes.map((write, position) => store(write, stored[position]));
        return { outcome: "committed", items } as const;
      });
    },

    returnsItems: true,

    scrub: async () => {
      for (let attempt = 0; attempt < SCRUBS_MAX; attempt++) {
        if (checkpoint.get()?.["busy"] === 0) return;
        await setTimeout(SCRUB_RETRY_MS);
      }
      throw new Error(`${file}: another process reads it, so its log could not be truncated`);
    },

    sweep: (limit) =>
      commit(() => {
        cache.write();
        return Number(expire.run(seconds(), limit).changes);
      }),

    close,
  };
};

/** A reader of another process, such as a backup, keeps the log as it is. */
const SCRUBS_MAX = 200;
const SCRUB_RETRY_MS = 25;

const prepareStatements = (db: DatabaseSync) => ({
  select: db.prepare(
    "SELECT item FROM items WHERE pk = ? AND sk = ? AND (expires_at IS NULL OR expires_at > ?)",
  ),
  upsert: db.prepare(
    `INSERT OR REPLACE INTO items (pk, sk, item, expires_at, list_pk, list_sk, due_pk, due_sk)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  remove: db.prepare("DELETE FROM items WHERE pk = ? AND sk = ?"),
  expire: db.prepare(
    `DELETE FROM items WHERE rowid IN
     (SELECT rowid FROM items WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  ),
  // Moves the log into the file, whose removed items are overwritten, and empties it.
  checkpoint: db.prepare("PRAGMA wal_checkpoint(TRUNCATE)"),
});

/** No valid UTF-8 has the byte FF, so this ends every range of strings with a common prefix. */
const AFTER_ALL = "CAST(x'ff' AS TEXT)";

const buildPageQuery = (
  query: TableQuery,
  seconds: number,
): { sql: string; values: SQLInputValue[] } => {
  const { index, sk, newestFirst, after: position } = query;
  const column = index ? INDEXES[index] : { pk: "pk", sk: "sk" };
  const order = index ? [column.sk, "pk", "sk"] : ["sk"];
  const where = [`${column.pk} = ?`, "(expires_at IS NULL OR expires_at > ?)"];
  const values: SQLInputValue[] = [query.pk, seconds];

  if (sk && "prefix" in sk) {
    where.push(`${column.sk} >= ?`, `${column.sk} < ? || ${AFTER_ALL}`);
    values.push(sk.prefix, sk.prefix);
  } else if (sk) {
    where.push(`${column.sk} BETWEEN ? AND ?`);
    values.push(sk.from, sk.to);
  }
  if (position) {
    where.push(
      `(${order.join(", ")}) ${newestFirst ? "<" : ">"} (${order.map(() => "?").join(", ")})`,
    );
    values.push(...readPosition(position).slice(0, order.length));
  }

  const direction = newestFirst ? " DESC" : "";
  const sorted = order.map((name) => name + direction).join(", ");
  const sql = `SELECT item FROM items WHERE ${where.join(" AND ")} ORDER BY ${sorted} LIMIT ?`;
  return { sql, values };
};

/** A statement per shape of query; there are only a few dozen shapes. */
const createStatementCache = (db: DatabaseSync) => {
  const statements = new Map<string, StatementSync>();
  return (sql: string): StatementSync => {
    const cached = statements.get(sql) ?? db.prepare(sql);
    statements.set(sql, cached);
    return cached;
  };
};

/** Only a damaged file contains an item that is not JSON. */
const createItemParser =
  (file: string, onDamage: OnDamage) =>
  (json: unknown): Item => {
    try {
      return JSON.parse(String(json)) as Item;
    } catch (cause) {
      const error = new Error(`${file}: a row is not JSON`, { cause });
      onDamage(error);
      throw error;
    }
  };
