import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Verdict } from "./money/history.ts";
import { findToolAbsence } from "./tools.ts";

// Goal: the money is right in the eyes of a checker that none of us wrote.
// Method: clients record what they are answered; Porcupine looks for an order in which one register of each account's
// balance can have answered so. `npx node test/third-party/money/cli.ts` records more, and with planted bugs.

/** In its own process: a recording keeps this machine busy for half a minute. It fails where the verdict is not Ok. */
const judgeMoney = async (...args: readonly string[]): Promise<Verdict> => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    "test/third-party/money/cli.ts",
    ...args,
  ]).catch((error: { readonly stdout: string; readonly stderr: string }) => error);
  const verdict = /\{.*\}/.exec(stdout)?.[0];
  if (verdict === undefined) throw new Error(stderr);
  return JSON.parse(verdict) as Verdict;
};

const SOUND = { verdict: "Ok", wrong: [] };

test("the server counts each charge once with right figures while it is killed three times", async ({
  skip,
}) => {
  const absence = findToolAbsence("porcupine");
  if (absence) skip(absence);

  const verdict = await judgeMoney("--operations", "1500", "--kills", "3");

  expect(verdict).toMatchObject(SOUND);
  expect(verdict.operations).toBeGreaterThanOrEqual(1_500);
});

test("the server counts each charge once over DynamoDB with lost replies and conflicting transactions", async ({
  skip,
}) => {
  const absence = findToolAbsence("porcupine");
  if (absence) skip(absence);

  expect(await judgeMoney("--operations", "600", "--dynamo")).toMatchObject(SOUND);
});

test("porcupine finds a search that states the balance of a later read", async ({ skip }) => {
  const absence = findToolAbsence("porcupine");
  if (absence) skip(absence);

  const found = judgeMoney("--operations", "800", "--kills", "1", "--bugs", "of a later read");

  expect(await found).toMatchObject({ verdict: "Illegal" });
});
