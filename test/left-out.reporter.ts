import { JsonReporter, type TestModule } from "vitest/node";

// The last lines of a run: which suites were left out, how many tests each has, and what it needs.

type LeftOut = { readonly name: string; readonly tests: number; readonly reason: string };

const findLeftOut = (modules: readonly TestModule[]): readonly LeftOut[] =>
  modules.flatMap((module) =>
    [...module.children.allSuites()].flatMap((suite) => {
      const { leftOut: reason } = suite.meta();
      const tests = [...suite.children.allTests()].length;
      return reason === undefined ? [] : [{ name: suite.name, tests, reason }];
    }),
  );

/** Empty where nothing was left out. */
export const formatLeftOut = (leftOut: readonly LeftOut[]): readonly string[] =>
  leftOut.length === 0
    ? []
    : [
        "Left out:",
        ...leftOut.map(({ name, tests, reason }) => `  ${name} (${tests} tests): ${reason}.`),
      ];

/** Writes the report as JSON and then prints what was left out, so that these lines are the last. */
export class LastLines extends JsonReporter {
  override async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    await super.onTestRunEnd(modules);
    for (const line of formatLeftOut(findLeftOut(modules))) console.log(line);
  }
}
