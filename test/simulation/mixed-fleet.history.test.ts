import { expect, test } from "vitest";
import { CURRENT, findReleaseAbsence, loadLastRelease, renameStored } from "../app/release.ts";
import { describeUnless } from "../runner/describe-when.ts";
import type { Crew } from "./run-script.ts";
import { runMixed } from "./simulation.ts";

// Goal: during a deployment, in which the Lambdas of two releases share a table, no credit is lost and no job is stuck.
// Method: the simulation's histories, with their crashes, lost replies and wrong clocks; each request, each message and
// each run of the reconciler is handled by the last release or by today's code, as is drawn. Then one of them is left: today's
// after a deployment, the last release after a rollback.

const SEEDS = 30;

const findFirst = async (
  during: readonly Crew[],
  after: Crew,
  hasPayers = false,
): Promise<string | undefined> => {
  for (let seed = 0; seed < SEEDS; seed++) {
    // What a release cannot read at all, it throws at.
    const [wrong] = await runMixed(seed, during, after, hasPayers).catch((error: unknown) => [
      String(error),
    ]);
    if (wrong !== undefined) return `seed ${seed}: ${wrong}`;
  }
  return undefined;
};

describeUnless(findReleaseAbsence(), "today's code beside the last release", () => {
  test(`the first ${SEEDS} seeds of the simulation break no invariant after a deployment`, async () => {
    expect(await findFirst([await loadLastRelease(), CURRENT], CURRENT)).toBeUndefined();
  });

  test(`the first ${SEEDS} seeds of the simulation break no invariant after a rollback`, async () => {
    const last = await loadLastRelease();

    expect(await findFirst([last, CURRENT], last)).toBeUndefined();
  });

  test("members and limits break no invariant after a deployment", async () => {
    expect(await findFirst([await loadLastRelease(), CURRENT], CURRENT, true)).toBeUndefined();
  });

  test("members and limits break no invariant after a rollback", async () => {
    const last = await loadLastRelease();

    expect(await findFirst([last, CURRENT], last, true)).toBeUndefined();
  });

  test.each([
    ["the use of an Idempotency-Key", "#verify#", "#verification#"],
    ["the months of the ledger", "LEDGER#", "BOOK#"],
    ["operations under way", "OPERATION#", "UNDERWAY#"],
    ["deferred rows", "DEFERRED#", "WAITING#"],
    ["a field of a job", "chunkRows", "rowsOfChunk"],
    ["a field of messages and chunks", "checksum", "crc"],
  ])(
    "the simulation detects that today's code uses another name than the last release for %s",
    async (_, now, then) => {
      const renamed = renameStored(await loadLastRelease(), now, then);

      expect(await findFirst([renamed, CURRENT], CURRENT)).toBeDefined();
    },
  );
});
