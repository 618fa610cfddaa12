import { readTableVersion, TABLE_VERSION } from "@mailproof/functions/table-version";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";

const createTable = () => createSqliteTable(":memory:", () => new Date());
const KEY = { pk: "STATE", sk: "VERSION" };

test("a table without a version is of version 1, and carries it from then on", async () => {
  const table = createTable();

  expect(await readTableVersion(table)).toBe(1);
  expect(await table.get(KEY)).toMatchObject({ version: 1 });
  expect(await readTableVersion(table)).toBe(1);
});

test("the table of a newer release is refused with the ways out, and stays as it is", async () => {
  const table = createTable();
  await table.write({ put: { ...KEY, version: TABLE_VERSION + 1 } });

  await expect(readTableVersion(table)).rejects.toThrow(
    /newer Mailproof \(2 > 1\)\. Use that release, or restore/,
  );
  expect(await table.get(KEY)).toMatchObject({ version: TABLE_VERSION + 1 });
});

test("a newer release reads the version of an older table, and leaves it to its upgrade", async () => {
  const table = createTable();
  await readTableVersion(table);

  expect(await readTableVersion(table, TABLE_VERSION + 1)).toBe(1);
});
