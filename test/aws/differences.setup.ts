import { beforeEach, type RunnerTask } from "vitest";
import { OF_MOTO, ON_AWS } from "./differences.ts";
import { isOverMoto } from "./emulator.ts";
import { isAwsShaped } from "./shape.ts";

// Leaves out the tests of what differs on AWS, or in an emulator of it; the last lines of the run name them.

const getFullName = ({ name, suite }: Pick<RunnerTask, "name" | "suite">): string =>
  suite ? `${getFullName(suite)} ${name}` : name;

const differences = [...(isAwsShaped ? ON_AWS : []), ...(isOverMoto ? OF_MOTO : [])];

beforeEach(({ task, skip }) => {
  const names = [task.name, getFullName(task)];
  const found = differences.find(([beginning]) => names.some((name) => name.startsWith(beginning)));
  if (found) skip(found[1]);
});
