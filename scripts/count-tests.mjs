// The last line of .ci/run: what the test runners counted, from the reports they wrote. Reports with a comma between
// them are one: of a file that stands in several, the last report counts, so no test counts twice. What was left out
// everywhere is explained in lines before it.
import { existsSync, readFileSync } from "node:fs";

const readFiles = (report) =>
  existsSync(report)
    ? JSON.parse(readFileSync(report, "utf8")).testResults.map(({ name, assertionResults }) => {
        const path = name.slice(name.lastIndexOf("/test/") + 1);
        return [path, { name: path, assertionResults }];
      })
    : [];

const files = process.argv
  .slice(2)
  .flatMap((reports) => [...new Map(reports.split(",").flatMap(readFiles)).values()]);
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
