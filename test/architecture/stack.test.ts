import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

// The product stands on the packages that were asked for: each does its work in a file, and is not only installed.

const STACK = [
  "@aws-sdk/client-dynamodb",
  "@aws-sdk/lib-dynamodb",
  "@aws-sdk/client-sqs",
  "@aws-sdk/client-s3",
  "@aws-sdk/s3-request-presigner",
  "@middy/core",
  "@middy/http-json-body-parser",
  "@aws-lambda-powertools/logger",
  "@aws-lambda-powertools/metrics",
  "sst",
  "aws-cdk-lib",
  "valibot",
  "vitest",
];

const rows = [
  ...readFileSync("docs/architecture.md", "utf8").matchAll(/^\| `?([@\w/-]+)`? +\| `(\S+)` +\|/gm),
].map(([, name = "", file = ""]) => ({ name, file }));

test("docs/architecture.md names the file in which each requested package does its work", () => {
  expect(STACK.filter((name) => !rows.some((row) => row.name === name))).toEqual([]);
});

test.each(rows)("$name is used in $file", ({ name, file }) => {
  const source = readFileSync(file, "utf8");
  const isImported = new RegExp(`from "${RegExp.escape(name)}(?:/[^"]*)?"`).test(source);
  // SST's configuration names no module: its command gives it the globals.
  const isConfigured = name === "sst" && source.includes("$config(");

  expect(isImported || isConfigured).toBe(true);
});
