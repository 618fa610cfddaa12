import { type Measured, machine, print, printTable, type Report, save } from "./report.ts";

// One bench in this process: bench/run.ts starts it.

const name = process.argv[2] ?? "";
process.stdout.write(`${machine().join(" · ")}\n`);
const { run } = (await import(`./${name}.ts`)) as {
  run: () => Promise<readonly Measured[] | Report>;
};
const came = await run();
const report = "rows" in came ? came : { rows: came, tables: [] };
print(name, report.rows);
report.tables.forEach(printTable);
// What was measured of a shorter list is not what the budgets mean.
if (process.env["ROWS"] === undefined) save(name, report);
