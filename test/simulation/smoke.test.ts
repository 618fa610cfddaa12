import { createKey, findKey, revokeKey } from "@mailproof/core/accounts/api-keys";
import { Failure } from "@mailproof/core/lib/failure";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { createFaultyTable } from "./faults.ts";
import { createRandom } from "./random.ts";
import { run, SMOKE_SEEDS } from "./simulation.ts";

// The quick checks: the first seeds of the simulation, and lost replies about keys.

test(`the first ${SMOKE_SEEDS} seeds of the simulation break no invariant`, async () => {
  for (let seed = 0; seed < SMOKE_SEEDS; seed++)
    expect(await run(seed), `SEED=${seed} npx vitest run test/simulation/simulation`).toEqual([]);
});

// Goal: whatever the network loses, a key that was shown opens, a key that was reported revoked does not, and
// the list and the look-up never disagree.
// Method: replay many seeds; each seed decides which calls are lost, before or after they commit.
// To reproduce a failure run: SEED=<n> npx vitest run test/simulation
const seeds = process.env["SEED"]
  ? [Number(process.env["SEED"])]
  : Array.from({ length: 300 }, (_, seed) => seed);

const settleOutcome = async <T>(act: () => Promise<T>): Promise<T | "unknown"> => {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Failure || (error as Error).message === "the reply was lost")
      return "unknown";
    throw error;
  }
};

test.each(seeds)(
  "each response about a key agrees with the stored keys after lost replies: seed %i",
  async (seed) => {
    const { world, account, table } = await given();
    const chance = createRandom(seed);
    const createUnreliableTable = { ...world, table: createFaultyTable(table, chance, 0.3) };

    for (let round = 0; round < 5; round++) {
      const made = await settleOutcome(() =>
        createKey(createUnreliableTable, { account, name: "k", mode: "live", scopes: null }),
      );
      if (made === "unknown") continue;
      expect(await findKey(world, made.secret)).toMatchObject({ id: made.key.id });
      const revoked = await settleOutcome(() => revokeKey(createUnreliableTable.table, made.key));
      const isInForce = (await findKey(world, made.secret)) !== undefined;
      expect(isInForce && revoked !== "unknown").toBe(false);
    }

    const hashes = table
      .items()
      .filter(({ sk }) => sk === "KEY")
      .map((item) => item["hash"]);
    const listed = table
      .items()
      .filter(({ pk }) => pk === `KEYS#${account}`)
      .map((item) => item["hash"]);
    expect(new Set(hashes)).toEqual(new Set(listed));
  },
);
