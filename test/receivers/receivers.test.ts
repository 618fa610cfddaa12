import { RECEIVERS } from "@mailproof/lab/receivers/receivers";
import { expect, test } from "vitest";
import { verifyScenario } from "./verify-scenario.ts";

// The whole engine, over real sockets, before receivers that answer as the real ones are documented to
// (docs/receivers.md).

const rows = RECEIVERS.flatMap((receiver) =>
  receiver.scenarios.map((scenario) => ({
    title: `${receiver.title}: ${scenario.shows}`,
    receiver,
    scenario,
  })),
);
const settled = rows.filter(({ scenario }) => scenario.openIssue === undefined);
const open = rows.filter(({ scenario }) => scenario.openIssue !== undefined);

test.concurrent.each(settled)("$title", async ({ receiver, scenario }) => {
  const { faults } = await verifyScenario(receiver, scenario);

  expect(faults.slice(0, 5)).toEqual([]);
});

test("a scenario with an open issue still fails; what was mended has none", async () => {
  const mended: string[] = [];
  for (const { title, receiver, scenario } of open) {
    const { faults } = await verifyScenario(receiver, scenario);
    if (faults.length === 0) mended.push(title);
  }

  expect(mended).toEqual([]);
}, 240_000);
