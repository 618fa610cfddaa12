import type { Emulator } from "./emulator.ts";

/** What an emulator does otherwise than AWS: the beginning of the full name of each test that shows it, and why. */
export const DIFFERENCES: Readonly<
  Record<Emulator, readonly (readonly [test: string, why: string])[]>
> = {
  "dynamodb-local": [],
  moto: [
    [
      "queue on sqs the receipt of an earlier hand-out neither ends nor delays the later one",
      "moto takes the receipt of an earlier hand-out for the later one's",
    ],
    [
      "a burst beyond the plan is 429",
      "moto does one request after the other, so that of hundreds at once some wait for longer than the adapter does",
    ],
    [
      "table on dynamodb update refuses to compare what cannot be compared",
      "a condition that compares a text with a number is an error in moto's own code, not false",
    ],
    [
      "faults between us and DynamoDB a transaction whose answer is lost after it was done is asked for again",
      "moto does not know the token of a transaction, so that a repeat is done again",
    ],
    [
      "faults between us and DynamoDB a transaction without any answer, lost after it was done,",
      "moto does not know the token of a transaction, so that a repeat is done again",
    ],
  ],
};
