// The last line of .ci/run: what the test runners counted, from the reports they wrote. Reports with a comma between
// them are one: of a file that stands in several, the last report counts, so no test counts twice. In one report a file
// may stand once for each emulator that it was run over. What was left out everywhere is explained in lines before it.
import { existsSync, readFileSync } from "node:fs";

const readFiles = (report) => {
  if (!existsSync(report)) return [];
  const { testResults } = JSON.parse(readFileSync(report, "utf8"));
  const runs = testResults.map(({ name, assertionResults }) => ({
    name: name.slice(name.lastIndexOf("/test/") + 1),
    assertionResults,
  }));
  // Written for the system's Node, which is older than the project's and has no Object.groupBy.
  const byName = new Map();
  for (const one of runs) byName.set(one.name, [...(byName.get(one.name) ?? []), one]);
  return [...byName];
};

const files = process.argv
  .slice(2)
  .flatMap((reports) => [...new Map(reports.split(",").flatMap(readFiles)).values()])
  .flat();
const tests = files.flatMap(({ name, assertionResults }) =>
  assertionResults.map(({ status, ancestorTitles: [suite] }) => ({ name, suite, status })),
);
const count = (status) => tests.filter((one) => one.status === status).length;
const leftOut = tests.filter(({ status }) => status !== "passed" && status !== "failed");

if (leftOut.length > 0) {
  const suites = new Set(leftOut.map(({ suite, name }) => suite ?? name));
  console.log(`${leftOut.length} left out, of: ${[...suites].join(", ")}. Each run says why.`);
}
console.log(`${count("passed")} passed, ${count("failed")} failed`);
