import { expect, test } from "vitest";
import { ALL_SEEDS, run, runWithPayers, SMOKE_SEEDS } from "./simulation.ts";

// Goal: whatever clients, crashes, lost replies, stalled processes and repeated messages come together, the invariants of
// money hold, and every response is true.
// Method: a seed decides a whole history; after it, find-violations.ts compares the responses with what is stored.
// To see one history again: SEED=<n> npx vitest run test/simulation/simulation. npx node test/simulation/cli.ts plays any number.

const BLOCK = 50;

const seed = process.env["SEED"];
const blocks = seed
  ? [{ from: Number(seed), to: Number(seed) + 1 }]
  : Array.from({ length: (ALL_SEEDS - SMOKE_SEEDS) / BLOCK }, (_, block) => ({
      from: SMOKE_SEEDS + block * BLOCK,
      to: SMOKE_SEEDS + (block + 1) * BLOCK,
    }));

test.each(blocks)(
  "the simulation finds no loss and no false response in seeds $from to $to",
  async ({ from, to }) => {
    for (let at = from; at < to; at++) expect(await run(at), `SEED=${at} shows it`).toEqual([]);
  },
  120_000,
);

test("the simulation finds no loss and no false response where persons pay, with limits", async () => {
  for (let at = seed ? Number(seed) : 0; at < (seed ? Number(seed) + 1 : SMOKE_SEEDS); at++)
    expect(await runWithPayers(at), `SEED=${at} shows it`).toEqual([]);
}, 120_000);
