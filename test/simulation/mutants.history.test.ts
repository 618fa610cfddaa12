import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import type { Mutant } from "./run-script.ts";
import { ALL_SEEDS, run, runWithPayers, SMOKE_SEEDS } from "./simulation.ts";
import { FLOWS, listSingleFaults, runFlow, runUndisturbed, toHistoryName } from "./sweep.ts";

// Each planted bug is found by the history that mutants-found-by.json names: a seed of smoke.test.ts or simulation.history.test.ts, or one
// fault in a flow of the sweeps. UPDATE=1 searches all of these histories anew, and writes the file.

const FILE = new URL("mutants-found-by.json", import.meta.url);
const SEARCH =
  "UPDATE=1 npx vitest run --project histories test/simulation/mutants.history.test.ts";
const isSearching = process.env["UPDATE"] !== undefined;

const foundBy = JSON.parse(readFileSync(FILE, "utf8")) as Readonly<Record<string, string>>;

type History = (mutant: Mutant) => Promise<readonly string[]>;

const toSeedName = (seed: number): string => `seed ${seed}`;
const toPayersName = (seed: number): string => `payers, seed ${seed}`;

async function* listFaultyHistories(flowName: string): AsyncGenerator<readonly [string, History]> {
  const flow = FLOWS[flowName];
  if (!flow) return;
  const { calls } = await runUndisturbed(flow);
  for (const planned of listSingleFaults(calls))
    yield [
      toHistoryName(flowName, planned),
      async (mutant) => (await runFlow(flow, planned, mutant)).wrong,
    ];
}

const findHistory = async (name: string): Promise<History | undefined> => {
  const [, payers, seed] = /^(payers, )?seed (\d+)$/.exec(name) ?? [];
  const play = payers ? runWithPayers : run;
  if (seed !== undefined) return (mutant) => play(Number(seed), mutant);
  const [flow = ""] = name.split(": ");
  for await (const [other, history] of listFaultyHistories(flow))
    if (other === name) return history;
  return undefined;
};

/** Chance finds most bugs soon; a sweep finds the others sooner than more seeds do. */
async function* listHistories(): AsyncGenerator<string> {
  for (let seed = 0; seed < SMOKE_SEEDS; seed++) yield toSeedName(seed);
  for (let seed = 0; seed < SMOKE_SEEDS; seed++) yield toPayersName(seed);
  for (const flow of Object.keys(FLOWS))
    for await (const [name] of listFaultyHistories(flow)) yield name;
  for (let seed = SMOKE_SEEDS; seed < ALL_SEEDS; seed++) yield toSeedName(seed);
}

const finds = async (name: string, mutant: Mutant): Promise<boolean> => {
  const history = await findHistory(name);
  return history !== undefined && (await history(mutant)).length > 0;
};

const searchAll = async (mutant: Mutant): Promise<string | undefined> => {
  for await (const name of listHistories()) if (await finds(name, mutant)) return name;
  return undefined;
};

const foundNow: Record<string, string> = {};

test.each(Object.entries(MUTANTS))(
  "the simulation detects the mutant in which %s",
  async (name, mutant) => {
    const named = foundBy[name] ?? "";
    const isFound = await finds(named, mutant);
    // A change of the code moves the calls of a flow: then all histories are searched, which takes minutes.
    const found = isFound ? named : await searchAll(mutant);

    expect(found, `"${named}" does not find it. To search: ${SEARCH}`).toBeDefined();
    foundNow[name] = String(found);
  },
  3_600_000,
);

afterAll(() => {
  if (isSearching) writeFileSync(FILE, `${JSON.stringify(foundNow, null, 2)}\n`);
});
