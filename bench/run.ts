import { globSync } from "node:fs";
import { basename } from "node:path";
import { type Measured, machine, print, printTable, type Report, save } from "./report.ts";

// npm run bench [name]: runs one bench, or all of them, prints a table and keeps it in bench/results/.

const HELPERS = new Set(["run", "report", "list-generator", "server"]);
const all = globSync("bench/*.ts", { cwd: new URL("..", import.meta.url) })
  .map((file) => basename(file, ".ts"))
  .filter((name) => !HELPERS.has(name));

const asked = process.argv[2];
if (asked !== undefined && !all.includes(asked)) {
  process.stderr.write(`There is no bench ${asked}. There are: ${all.join(", ")}.\n`);
  process.exit(2);
}

process.stdout.write(`${machine().join(" · ")}\n`);
for (const name of asked === undefined ? all : [asked]) {
  const { run } = (await import(`./${name}.ts`)) as {
    run: () => Promise<readonly Measured[] | Report>;
  };
  const came = await run();
  const report = "rows" in came ? came : { rows: came, tables: [] };
  print(name, report.rows);
  report.tables.forEach(printTable);
  save(name, report);
}
