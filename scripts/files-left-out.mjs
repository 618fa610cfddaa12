// The test files of which a run left something out, from the report it wrote.
import { readFileSync } from "node:fs";

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const isLeftOut = ({ status }) => status !== "passed" && status !== "failed";

for (const { name, assertionResults } of testResults)
  if (assertionResults.some(isLeftOut)) console.log(name.slice(name.lastIndexOf("/test/") + 1));
