import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

// What a run counted, by file, and what it left out, with the reasons. Printed as its last lines, and stored for
// scripts/test-all.ts where RESULTS names a file.

export type LeftOut = { readonly name: string; readonly tests: number; readonly reason: string };

/** Of one test file over one project. */
export type FileResult = {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly leftOut: readonly LeftOut[];
};

const countTests = (module: TestModule, state: "passed" | "failed"): number =>
  [...module.children.allTests(state)].length;

/** A file that cannot be loaded has no tests to fail. */
const countFailed = (module: TestModule): number =>
  Math.max(countTests(module, "failed"), Number(module.state() === "failed"));

const findLeftOut = (module: TestModule): readonly LeftOut[] => {
  const suites = [...module.children.allSuites()].flatMap((suite) => {
    const { leftOut: reason } = suite.meta();
    const tests = [...suite.children.allTests()].length;
    return reason === undefined ? [] : [{ name: suite.name, tests, reason }];
  });
  const tests = [...module.children.allTests("skipped")].flatMap((test) => {
    const result = test.result();
    const reason = result.state === "skipped" ? result.note : undefined;
    const name = `${module.project.name}: ${test.fullName}`;
    return reason === undefined ? [] : [{ name, tests: 1, reason }];
  });
  return [...suites, ...tests];
};

/** Empty where nothing was left out. */
export const formatLeftOut = (leftOut: readonly LeftOut[]): readonly string[] =>
  leftOut.length === 0
    ? []
    : [
        "Left out:",
        ...leftOut.map(
          ({ name, tests, reason }) =>
            `  ${name} (${tests} ${tests === 1 ? "test" : "tests"}): ${reason}.`,
        ),
      ];

export class Results implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const results: readonly FileResult[] = modules.map((module) => ({
      file: relative(process.cwd(), module.moduleId),
      passed: countTests(module, "passed"),
      failed: countFailed(module),
      leftOut: findLeftOut(module),
    }));
    const file = process.env["RESULTS"];
    if (file !== undefined) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(results));
    }
    for (const line of formatLeftOut(results.flatMap((one) => one.leftOut))) console.log(line);
  }
}
