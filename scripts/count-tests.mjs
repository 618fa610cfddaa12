// The last line of .ci/run: what the test runner counted, from the report it wrote.
import { readFileSync } from "node:fs";

const counted = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const sum = (field) => counted.reduce((total, one) => total + one[field], 0);
const skipped = sum("numPendingTests") + sum("numTodoTests");

console.log(
  `${sum("numPassedTests")} passed, ${sum("numFailedTests")} failed` +
    (skipped > 0 ? `, ${skipped} skipped` : ""),
);
