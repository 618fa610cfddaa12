import { expect, test } from "vitest";
import { run } from "./simulation.ts";

// Goal: whatever clients, crashes, lost replies, stalled processes and repeated messages come together, the laws of
// money hold, and everything that anybody was told is true.
// Method: a seed decides a whole history; after it, truth.ts compares what was heard with what is stored.
// To see one history again: SEED=<n> npx vitest run test/simulation/storm. CI plays 2,000, npm run simulate any number.

/** The seeds before are those of smoke.test.ts. */
const FIRST = 100;
const SEEDS = 200;
const BLOCK = 50;

const seed = process.env["SEED"];
const blocks = seed
  ? [{ from: Number(seed), to: Number(seed) + 1 }]
  : Array.from({ length: SEEDS / BLOCK }, (_, block) => ({
      from: FIRST + block * BLOCK,
      to: FIRST + (block + 1) * BLOCK,
    }));

test.each(blocks)(
  "seeds $from to $to leave no loss and no lie",
  async ({ from, to }) => {
    for (let at = from; at < to; at++) expect(await run(at), `SEED=${at} shows it`).toEqual([]);
  },
  120_000,
);
