import { expect, test } from "vitest";
import { SMOKE_SEEDS } from "./seeds.ts";
import { run } from "./simulation.ts";

// The first of the storm's seeds, for those who cannot wait for all of them: npm run check.

test(`the first ${SMOKE_SEEDS} seeds of the storm leave no loss and no lie`, async () => {
  for (let seed = 0; seed < SMOKE_SEEDS; seed++)
    expect(await run(seed), `SEED=${seed} npx vitest run test/simulation/storm`).toEqual([]);
});
