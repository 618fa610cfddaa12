import { describeMachine, printRows, printTable, type Report, type ReportRow } from "./report.ts";

// One bench in this process: bench/run.ts starts it, and stores what it sends.

export type Outcome = { readonly obstacle: string } | { readonly report: Report };

const name = process.argv[2] ?? "";
process.stdout.write(`${describeMachine().join(" · ")}\n`);
const { run, findObstacle } = (await import(`./${name}.ts`)) as {
  run: () => Promise<readonly ReportRow[] | Report>;
  /** Why it cannot run on this machine, or null. */
  findObstacle?: () => string | null;
};
const sendOutcome = (outcome: Outcome): void => {
  process.send?.(outcome, () => process.disconnect());
};
const obstacle = findObstacle?.() ?? null;
if (obstacle === null) {
  const result = await run();
  const report = "rows" in result ? result : { rows: result, tables: [] };
  printRows(name, report.rows);
  report.tables.forEach(printTable);
  sendOutcome({ report });
} else sendOutcome({ obstacle });
