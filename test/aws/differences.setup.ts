import { beforeEach, type RunnerTask } from "vitest";
import { isAwsShaped, isOverMoto } from "./shape.ts";

type Difference = readonly [test: string, why: string];

/** What the product does otherwise on AWS than on one machine: the beginning of the name of each test, and why. */
const ON_AWS: readonly Difference[] = [
  [
    "GET /health answers 200 and degraded while dead letters wait",
    "it gives up on a message after one try, and the queues of AWS are as their workers say",
  ],
  [
    'a job called "half',
    "DynamoDB keeps text as UTF-8, which has no halves of letters: it becomes the sign for what is none",
  ],
  [
    "a CSV that turns out to be short later on breaks off",
    "a Lambda hands over whole answers, so what is short is reported before its first byte",
  ],
  [
    "a file over fifty million bytes answers 413",
    "a Lambda is called with 6 MB at most: a form has another limit there, which test/functions/whole-answer tells",
  ],
];

/** What moto does otherwise than AWS: the beginning of the full name of each test that shows it, and why. */
const OF_MOTO: readonly Difference[] = [
  [
    "queue on sqs the receipt of an earlier receive neither ends nor delays the later one",
    "moto takes the receipt of an earlier hand-out for the later one's",
  ],
  [
    "a burst beyond the plan is 429",
    "moto does one request after the other, so that of hundreds at once some wait for longer than the adapter does",
  ],
  [
    "table on dynamodb the table reports that update refuses to compare what cannot be compared",
    "a condition that compares a text with a number is an error in moto's own code, not false",
  ],
  [
    "faults between the adapter and DynamoDB the DynamoDB adapter repeats a transaction whose answer is lost after it was applied",
    "moto does not know the token of a transaction, so that a repeat is done again",
  ],
  [
    "faults between the adapter and DynamoDB a transaction whose answers are all lost after it was applied",
    "moto does not know the token of a transaction, so that a repeat is done again",
  ],
];

// Leaves out the tests of what differs on AWS, or in an emulator of it; the last lines of the run name them.

const getFullName = ({ name, suite }: Pick<RunnerTask, "name" | "suite">): string =>
  suite ? `${getFullName(suite)} ${name}` : name;

const differences = [...(isAwsShaped ? ON_AWS : []), ...(isOverMoto ? OF_MOTO : [])];

beforeEach(({ task, skip }) => {
  const names = [task.name, getFullName(task)];
  const found = differences.find(([beginning]) => names.some((name) => name.startsWith(beginning)));
  if (found) skip(found[1]);
});
