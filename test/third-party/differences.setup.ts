import { beforeEach, type RunnerTask } from "vitest";
import { DIFFERENCES } from "./differences.ts";
import { EMULATOR } from "./emulator.ts";

// Leaves out the tests that show how an emulator differs from AWS; the last lines of the run name them.

const getFullName = ({ name, suite }: Pick<RunnerTask, "name" | "suite">): string =>
  suite ? `${getFullName(suite)} ${name}` : name;

const differences = EMULATOR ? DIFFERENCES[EMULATOR] : [];

beforeEach(({ task, skip }) => {
  const name = getFullName(task);
  const [, why] = differences.find(([beginning]) => name.startsWith(beginning)) ?? [];
  if (why !== undefined) skip(why);
});
