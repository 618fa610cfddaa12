import {
  describeMachine,
  printRows,
  printTable,
  type Report,
  type ReportRow,
  saveResult,
} from "./report.ts";

// One bench in this process: bench/run.ts starts it.

const name = process.argv[2] ?? "";
process.stdout.write(`${describeMachine().join(" · ")}\n`);
const { run } = (await import(`./${name}.ts`)) as {
  run: () => Promise<readonly ReportRow[] | Report>;
};
const result = await run();
const report = "rows" in result ? result : { rows: result, tables: [] };
printRows(name, report.rows);
report.tables.forEach(printTable);
// What was measured of a shorter list is not what the budgets mean.
if (process.env["ROWS"] === undefined) saveResult(name, report);
