import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkOut, findCommit } from "./against/checkout.ts";
import { scenarioNames } from "./against/scenarios.ts";
import { findObstacle } from "./autocannon.ts";
import type { Outcome } from "./one.ts";
import { BENCHES, buildTable, compareToBudgets, PAGE, writePage } from "./performance.ts";
import { printTable, type Report, readResults, saveResult } from "./report.ts";

// npm run bench [names]: runs some benches, or all of them, each in its own process. Where none of them failed it stores
// their results in bench/results.json and docs/performance.md. It ends with an error where one failed or a budget is missed.
// npm run bench -- --against REV [names]: the server of another commit and this one, as ratios.
// npm run bench -- --ratchet [names]: the same with the commit in bench/reference; it ends with an error where a ratio is below
// its limit in bench/against/ratios.ts.

/** Many times what any of them takes on a machine that has nothing else to do. */
const MINUTES_MAX = 20;
/** Three measurements on a machine that has much else to do. */
const AGAINST_MINUTES_MAX = 60;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: "string" }, ratchet: { type: "boolean", default: false } },
});
const isComparison = values.ratchet || values.against !== undefined;
const offered: readonly string[] = isComparison ? scenarioNames : BENCHES;
const unknown = positionals.find((name) => !offered.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`There is no bench ${unknown}. There are: ${offered.join(", ")}.\n`);
  process.exit(2);
}
const names = positionals.length > 0 ? positionals : offered;

/** Whatever a file of the bench has started is in its group, and ends with it. Its last message, and whether it ended well. */
const runFile = async (
  file: string,
  args: readonly string[],
  minutesMax: number,
): Promise<{ readonly isGood: boolean; readonly outcome: Outcome | undefined }> => {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, path, ...args], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    detached: true,
  });
  let outcome: Outcome | undefined;
  child.on("message", (message) => {
    outcome = message as Outcome;
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
    process.stderr.write(`${args.join(" ")} took more than ${minutesMax} minutes.\n`);
    end();
  }, minutesMax * 60_000);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(timer);
  for (const signal of SIGNALS) process.off(signal, onInterrupt);
  end();
  if (signal !== null) process.stderr.write(`${args.join(" ")} was ended by ${signal}.\n`);
  return { isGood: code === 0, outcome };
};

/** What cannot be installed here is missed by the benches that need it, and they say so. */
const installPeers = (): void => {
  if (findObstacle() === null) return;
  process.stdout.write("Installing the peers and the load generator.\n");
  const bench = fileURLToPath(new URL(".", import.meta.url));
  spawnSync("npm", ["install", "--prefix", bench], { stdio: ["ignore", "ignore", "inherit"] });
};

const readReference = (): string => {
  const [commit = ""] = readFileSync(new URL("reference", import.meta.url), "utf8").split("\n");
  return commit;
};

const runComparison = async (): Promise<boolean> => {
  const commit = findCommit(values.against ?? readReference());
  const { tree, remove } = checkOut(commit);
  // Also where it is interrupted.
  process.once("exit", remove);
  const args = [tree, commit, values.ratchet ? "held" : "printed", ...names];
  const { isGood } = await runFile("against/against.ts", args, AGAINST_MINUTES_MAX);
  return isGood;
};

const runBenches = async (): Promise<boolean> => {
  const reports: (readonly [string, Report])[] = [];
  const failed: string[] = [];
  const left: string[] = [];
  for (const name of names) {
    const { isGood, outcome } = await runFile("one.ts", [name], MINUTES_MAX);
    if (!isGood || !outcome) failed.push(name);
    else if ("obstacle" in outcome) left.push(`${name}, since ${outcome.obstacle}`);
    else reports.push([name, outcome.report]);
  }
  const isWritten = failed.length === 0 && reports.length > 0;
  if (isWritten) {
    for (const [name, report] of reports) saveResult(name, report);
    writePage();
  }
  const measured = reports.map(([name]) => name);
  const results = isWritten ? readResults().filter(({ name }) => measured.includes(name)) : [];
  const verdicts = compareToBudgets(results);
  if (names.length > 1 && isWritten) printTable(buildTable(verdicts));
  const missed = verdicts.filter(({ isMet }) => !isMet).map(({ line }) => line.what);
  const lines = [
    left.length > 0 && `Did not run: ${left.join("; ")}.`,
    failed.length > 0 && `Failed: ${failed.join(", ")}. ${PAGE} stays as it was.`,
    missed.length > 0 && `Missed: ${missed.join("; ")}.`,
    isWritten && missed.length === 0 && "Every budget of what ran is met.",
    isWritten && `${PAGE} was written.`,
  ].filter((line) => line !== false);
  process.stdout.write(`\n${lines.join("\n")}\n`);
  return failed.length + missed.length === 0;
};

installPeers();
const isGood = await (isComparison ? runComparison() : runBenches());
if (!isGood) process.exitCode = 1;
