import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const page = readFileSync("packages/mail/README.md", "utf8");
const programs = [
  ...page.matchAll(/^## (.*)$[^#]*?^```ts\n([^`]*(?:`[^`\n]+`[^`]*)*?)^```$/gm),
].map(([, title = "", source = ""]) => ({ title, source }));

test("the README contains five programs", () => {
  expect(programs.map(({ title }) => title)).toHaveLength(5);
});

test.each(programs)("the README's program prints the stated output: $title", async ({ source }) => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module-typescript",
    "--eval",
    source,
  ]);

  // The page ends each program with what it prints.
  const printed = /((?:^\/\/ .*\n)+)$/m.exec(source)?.[1] ?? "";
  expect(stdout).toBe(printed.replaceAll(/^\/\/ /gm, ""));
});
