import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { createGroupCommit } from "@mailproof/local/storage/sqlite";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";
import { createFolder } from "./running.ts";

const now = () => new Date();
const item = (n: number) => ({ put: { pk: "P", sk: String(n) } });

test("while another process holds the lock the server goes on, and the writes are done when it lets go", async () => {
  const file = join(createFolder(), "state.sqlite");
  const table = createSqliteTable(file, now);
  const other = new DatabaseSync(file);
  other.exec("BEGIN IMMEDIATE");

  const written = Promise.all(Array.from({ length: 100 }, (_row, n) => table.write(item(n))));
  for (let turn = 0; turn < 10; turn++) await setTimeout(1);
  expect(await table.get({ pk: "P", sk: "0" })).toBeUndefined();
  other.exec("COMMIT");

  expect((await written).every(({ outcome }) => outcome === "committed")).toBe(true);
  other.close();
  table.close();
});

test("closing finishes waiting work and refuses later work", async () => {
  const file = join(createFolder(), "state.sqlite");
  const table = createSqliteTable(file, now);
  const waiting = Array.from({ length: 1_200 }, (_row, n) => table.write(item(n)));
  await Promise.resolve();
  table.close();

  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  await expect(table.write(item(0))).rejects.toThrow("the database is closed");

  const again = createSqliteTable(file, now);
  expect((await again.query({ pk: "P", limit: 2_000 })).items).toHaveLength(1_200);
  again.close();
});

test("many commits that wait at the same time leave turns of the event loop to others", async () => {
  const { commit, close } = createGroupCommit(new DatabaseSync(":memory:"));
  const keepBusy = () => {
    for (const untilMs = performance.now() + 2; performance.now() < untilMs; );
  };
  let turns = 0;
  const count = (): NodeJS.Immediate =>
    setImmediate(() => {
      turns++;
      count();
    }).unref();
  count();
  await Promise.all(Array.from({ length: 100 }, () => commit(keepBusy)));
  close();
  // 100 times 2 ms, in groups of some 10 ms.
  expect(turns).toBeGreaterThan(10);
});

test("a file of a newer release is refused, not half understood", () => {
  const file = join(createFolder(), "state.sqlite");
  const db = new DatabaseSync(file);
  db.exec("PRAGMA user_version = 99");
  db.close();

  expect(() => createSqliteTable(file, now)).toThrow("written by a newer Mailproof");
});
