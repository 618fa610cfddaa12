import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { MUTANTS } from "./mutants.ts";
import type { Mutant } from "./run-script.ts";
import { ALL_SEEDS, SMOKE_SEEDS } from "./seeds.ts";
import { run } from "./simulation.ts";
import { FLOWS, listSingleFaults, runFlow, runUndisturbed, toHistoryName } from "./sweep.ts";

// Each planted bug must be found by what npm test plays: a seed of smoke.test.ts or simulation.test.ts, or one fault in a
// flow of the sweeps. mutants-found-by.json names the history that found it last, which is played first; only where that
// one finds nothing are the others searched. UPDATE=1 writes the file anew.

const FILE = new URL("mutants-found-by.json", import.meta.url);
type FoundBy = Readonly<Record<string, string>>;
const foundLast = JSON.parse(readFileSync(FILE, "utf8")) as FoundBy;

type History = (mutant: Mutant) => Promise<readonly string[]>;

const listSeeds = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, at) => from + at);

const toSeededHistories = (seeds: readonly number[]) =>
  seeds.map((seed) => [`seed ${seed}`, (mutant: Mutant) => run(seed, mutant)] as const);

const listFaultyHistories = async (): Promise<readonly (readonly [string, History])[]> => {
  const histories: (readonly [string, History])[] = [];
  for (const [name, flow] of Object.entries(FLOWS)) {
    const { calls } = await runUndisturbed(flow);
    for (const planned of listSingleFaults(calls))
      histories.push([
        toHistoryName(name, planned),
        async (mutant) => (await runFlow(flow, planned, mutant)).wrong,
      ]);
  }
  return histories;
};

/** Most bugs are found soon by chance; the others sooner by a sweep than by more of it. */
const HISTORIES: ReadonlyMap<string, History> = new Map([
  ...toSeededHistories(listSeeds(0, SMOKE_SEEDS)),
  ...(await listFaultyHistories()),
  ...toSeededHistories(listSeeds(SMOKE_SEEDS, ALL_SEEDS)),
]);

const findHistory = async (mutant: Mutant, first: string | undefined) => {
  for (const name of new Set([first ?? "", ...HISTORIES.keys()]))
    if ((await HISTORIES.get(name)?.(mutant))?.length) return name;
  return undefined;
};

const foundNow = new Map(Object.entries(foundLast));

test.each(Object.entries(MUTANTS))(
  "it is found out when %s",
  async (name, mutant) => {
    const found = await findHistory(mutant, foundLast[name]);

    expect(found).toBeDefined();
    foundNow.set(name, String(found));
  },
  600_000,
);

afterAll(() => {
  const foundBy: FoundBy = Object.fromEntries(
    Object.keys(MUTANTS).flatMap((name) => {
      const history = foundNow.get(name);
      return history === undefined ? [] : [[name, history]];
    }),
  );
  const others = Object.entries(foundBy).filter(([name, history]) => foundLast[name] !== history);
  if (process.env["UPDATE"]) writeFileSync(FILE, `${JSON.stringify(foundBy, null, 2)}\n`);
  else if (others.length > 0)
    process.stdout.write(
      `mutants-found-by.json names histories that no longer find their bugs, and UPDATE=1 writes it anew: ${JSON.stringify(others)}\n`,
    );
});
