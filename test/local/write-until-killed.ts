import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";

// Writes as fast as the disk takes it, until it is killed.

const table = createSqliteTable(process.argv[2] ?? "", () => new Date());
process.stdout.write("began\n");
for (let n = 0; ; n++)
  await Promise.all(
    ["a", "b", "c"].map((pk) =>
      table.write({ put: { pk, sk: `${n % 50}`, text: "x".repeat(2_000) } }),
    ),
  );
