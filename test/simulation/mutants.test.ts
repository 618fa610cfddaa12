import { expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import type { Mutant } from "./run-script.ts";
import { ALL_SEEDS, RARE_SEEDS, SMOKE_SEEDS } from "./seeds.ts";
import { run } from "./simulation.ts";
import {
  CANCELLATIONS,
  CHECKS,
  DELETIONS,
  ERASURES,
  JOBS,
  listSingleFaults,
  MAIL_TESTS,
  MORE_CHECKS,
  runFlow,
  SEARCHES,
  VERIFICATIONS,
} from "./sweep.ts";

// npm test. Each planted bug must be found by what npm test runs: its seeds (smoke.test.ts and simulation.test.ts), or a single
// fault of the sweep.

// Most bugs are found soon by chance; the others sooner by a sweep than by more of it.

const isFound = async (mutant: Mutant): Promise<boolean> =>
  (await isFoundByChance(mutant, listSeeds(0, SMOKE_SEEDS))) ||
  (await isFoundByChance(mutant, RARE_SEEDS)) ||
  (await isFoundBySweep(mutant)) ||
  isFoundByChance(mutant, listSeeds(SMOKE_SEEDS, ALL_SEEDS));

const listSeeds = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, at) => from + at);

const isFoundByChance = async (mutant: Mutant, seeds: readonly number[]): Promise<boolean> => {
  for (const seed of seeds) if ((await run(seed, mutant)).length > 0) return true;
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
    ...MAIL_TESTS,
    // The longest last: they have as many calls as all others together.
    ...DELETIONS,
    ...ERASURES,
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
