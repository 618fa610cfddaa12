import { JsonReporter, type TestModule } from "vitest/node";

// The last lines of a run: which suites and tests were left out, and why.

type LeftOut = { readonly name: string; readonly tests: number; readonly reason: string };

const findLeftOut = (modules: readonly TestModule[]): readonly LeftOut[] =>
  modules.flatMap((module) =>
    [...module.children.allSuites()].flatMap((suite) => {
      const { leftOut: reason } = suite.meta();
      const tests = [...suite.children.allTests()].length;
      return reason === undefined ? [] : [{ name: suite.name, tests, reason }];
    }),
  );

const findLeftOutTests = (modules: readonly TestModule[]): readonly LeftOut[] =>
  modules.flatMap((module) =>
    [...module.children.allTests("skipped")].flatMap((test) => {
      const result = test.result();
      const reason = result.state === "skipped" ? result.note : undefined;
      return reason === undefined
        ? []
        : [{ name: `${module.project.name}: ${test.fullName}`, tests: 1, reason }];
    }),
  );

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

/** Writes the report as JSON and then prints what was left out, so that these lines are the last. */
export class LastLines extends JsonReporter {
  override async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    await super.onTestRunEnd(modules);
    const leftOut = [...findLeftOut(modules), ...findLeftOutTests(modules)];
    for (const line of formatLeftOut(leftOut)) console.log(line);
  }
}
