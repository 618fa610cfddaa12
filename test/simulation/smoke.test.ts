import { expect, test } from "vitest";
import { run, SMOKE_SEEDS } from "./simulation.ts";

// The first seeds of the simulation, as a quick check: npm run check.

test(`the first ${SMOKE_SEEDS} seeds of the simulation break no invariant`, async () => {
  for (let seed = 0; seed < SMOKE_SEEDS; seed++)
    expect(await run(seed), `SEED=${seed} npx vitest run test/simulation/simulation`).toEqual([]);
});
