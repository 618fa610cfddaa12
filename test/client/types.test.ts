import { readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { createError, type MoneyOutcome as Ours } from "@mailproof/client/errors";
import { OPERATIONS } from "@mailproof/client/operations";
import { type MoneyOutcome, withMoneySentence } from "@mailproof/core/lib/failure";
import { expect, test } from "vitest";
import { BUILT, buildClient } from "../../scripts/made/client.ts";
import { buildClientTypes } from "../../scripts/made/client-types.ts";

test.each(Object.entries(buildClientTypes()))(
  "the client's file %s agrees with the endpoints",
  (file, source) => {
    expect(readFileSync(file, "utf8"), `run: npx node scripts/write.ts client`).toBe(source);
  },
);

test("built.json contains the client's current sources", async () => {
  expect(readFileSync(BUILT, "utf8"), "run: npx node scripts/write.ts client").toBe(
    await buildClient(),
  );
});

test("the client offers every endpoint as an operation", () => {
  const routes = new Set(Object.values(OPERATIONS).map(({ route }) => route));

  expect([...routes].toSorted()).toEqual(endpoints.map(({ route }) => route as string).toSorted());
});

test("the client sends a paid call with a key, or repeats it only when nothing was done", () => {
  const priced = endpoints
    .filter(({ price }) => price !== null)
    .map(({ route }) => route as string);
  const careful = Object.values(OPERATIONS).filter(
    ({ repeat, paid }) => repeat === "keyed" || paid,
  );

  expect(new Set(careful.map(({ route }) => route))).toEqual(new Set(priced));
  expect(careful.filter(({ repeat }) => repeat === undefined)).toEqual([]);
});

test("the client declares the service's outcomes for money, and no others", () => {
  const ours = (word: MoneyOutcome): Ours => word;
  const theirs = (word: Ours): MoneyOutcome => word;

  expect(theirs(ours("kept"))).toBe("kept");
});

test.each(["nothing_charged", "refunded"] as const)(
  "a client error with %s ends with the service's sentence",
  (money) => {
    const { message } = createError("Lost.", { code: "NETWORK", money });

    expect(message).toBe(withMoneySentence("Lost.", money));
  },
);
