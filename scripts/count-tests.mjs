// The last line of .ci/run: what the test runners counted, from the reports they wrote. What they left out is told
// in a line before it.
import { readFileSync } from "node:fs";

const counted = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const sum = (field) => counted.reduce((total, one) => total + one[field], 0);
const leftOut = sum("numPendingTests") + sum("numTodoTests");

if (leftOut > 0) console.log(`${leftOut} left out; why is printed where they are.`);
console.log(`${sum("numPassedTests")} passed, ${sum("numFailedTests")} failed`);
