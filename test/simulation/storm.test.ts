import { expect, test } from "vitest";
import { weather } from "./storm.ts";

// Goal: whatever clients, crashes, lost replies, stalled processes and repeated messages come together, the laws of
// money hold, and everything that anybody was told is true.
// Method: a seed decides a whole history; after it, truth.ts compares what was heard with what is stored.
// To see one history again: SEED=<n> npx vitest run test/simulation/storm. More of them: npm run simulate.

const SEEDS = 2_000;
const BLOCK = 100;

const seed = process.env["SEED"];
const blocks = seed
  ? [{ from: Number(seed), to: Number(seed) + 1 }]
  : Array.from({ length: SEEDS / BLOCK }, (_, block) => ({
      from: block * BLOCK,
      to: (block + 1) * BLOCK,
    }));

test.each(blocks)(
  "seeds $from to $to leave no loss and no lie",
  async ({ from, to }) => {
    for (let at = from; at < to; at++) expect(await weather(at), `SEED=${at} shows it`).toEqual([]);
  },
  120_000,
);
