import { expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import type { Mutant } from "./run-script.ts";
import { run } from "./simulation.ts";
import {
  CANCELLATIONS,
  CHECKS,
  JOBS,
  listSingleFaults,
  MORE_CHECKS,
  runFlow,
  SEARCHES,
  VERIFICATIONS,
} from "./sweep.ts";

// Each planted bug must be found by what npm test runs: its seeds (smoke.test.ts and simulation.test.ts), or a single
// fault of the sweep.

const SEEDS = 300;
/** Most bugs are found soon by chance; the others sooner by a sweep than by more of it. */
const FIRST_SEEDS = 100;

const isFound = async (mutant: Mutant): Promise<boolean> =>
  (await isFoundByChance(mutant, 0, FIRST_SEEDS)) ||
  (await isFoundBySweep(mutant)) ||
  isFoundByChance(mutant, FIRST_SEEDS, SEEDS);

const isFoundByChance = async (mutant: Mutant, from: number, to: number): Promise<boolean> => {
  for (let seed = from; seed < to; seed++) if ((await run(seed, mutant)).length > 0) return true;
  return false;
};

const isFoundBySweep = async (mutant: Mutant): Promise<boolean> => {
  const flows = {
    ...MORE_CHECKS,
    ...VERIFICATIONS,
    ...CANCELLATIONS,
    ...JOBS,
    ...CHECKS,
    ...SEARCHES,
  };
  for (const flow of Object.values(flows)) {
    const { calls } = await runFlow(flow, new Map());
    for (const planned of listSingleFaults(calls))
      if ((await runFlow(flow, planned, mutant)).wrong.length > 0) return true;
  }
  return false;
};

test.each(Object.entries(MUTANTS))(
  "it is found out when %s",
  async (_, mutant) => {
    expect(await isFound(mutant)).toBe(true);
  },
  600_000,
);
