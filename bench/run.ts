import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import {
  BENCHES,
  buildTable,
  compareToBudgets,
  PAGE,
  readResults,
  writePage,
} from "./performance.ts";
import { printTable } from "./report.ts";

// npm run bench [name]: runs one bench, or all of them, each in a process of its own, and stores its result in
// bench/results/ and docs/performance.md. It ends with an error where a bench fails or a budget is missed.

/** Many times what any of them takes on a machine that has nothing else to do. */
const MINUTES_MAX = 6;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const benchName = process.argv[2];
if (benchName !== undefined && !BENCHES.includes(benchName)) {
  process.stderr.write(`There is no bench ${benchName}. There are: ${BENCHES.join(", ")}.\n`);
  process.exit(2);
}

/** Whatever a bench has started is in its group, and ends with it. */
const runOne = async (name: string): Promise<boolean> => {
  const file = fileURLToPath(new URL("one.ts", import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, file, name], {
    stdio: "inherit",
    detached: true,
  });
  const end = (): void => {
    try {
      process.kill(-(child.pid ?? Number.NaN), "SIGKILL");
    } catch {
      // All of them have ended.
    }
  };
  const onInterrupt = (): never => {
    end();
    process.exit(130);
  };
  for (const signal of SIGNALS) process.once(signal, onInterrupt);
  const timer = setTimeout(() => {
    process.stderr.write(`${name} took more than ${MINUTES_MAX} minutes.\n`);
    end();
  }, MINUTES_MAX * 60_000);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  for (const signal of SIGNALS) process.off(signal, onInterrupt);
  end();
  return code === 0;
};

const names = benchName === undefined ? BENCHES : [benchName];
const failed: string[] = [];
for (const name of names) if (!(await runOne(name))) failed.push(name);

const measured = names.filter((name) => !failed.includes(name));
const isShort = process.env["ROWS"] !== undefined;
const verdicts = isShort
  ? []
  : compareToBudgets(readResults().filter(({ name }) => measured.includes(name)));
if (!isShort) writePage();
if (names.length > 1) printTable(buildTable(verdicts));
const missed = verdicts.filter(({ isMet }) => !isMet).map(({ line }) => line.what);
const lines = [
  failed.length > 0 && `Failed: ${failed.join(", ")}.`,
  missed.length > 0 && `Missed: ${missed.join("; ")}.`,
  failed.length + missed.length === 0 && !isShort && "Every budget is met.",
  !isShort && `${PAGE} was written.`,
].filter((line) => line !== false);
process.stdout.write(`\n${lines.join("\n")}\n`);
if (failed.length + missed.length > 0) process.exitCode = 1;
