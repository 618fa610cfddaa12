import { beforeAll, describe, expect, test } from "vitest";
import { type Artefact, isTaken, type Journey, STEPS, startJourney } from "./journey.ts";

/** One test for each step, in their order. `start` is asked for once, before the first. */
export const describeJourney = (name: string, start: () => Promise<Artefact>): void => {
  describe(`the journey through ${name}`, () => {
    let journey: Journey;
    beforeAll(async () => {
      journey = await startJourney(await start());
    });
    for (const step of STEPS)
      test(`${step.name}`, async ({ skip }) => {
        if (!isTaken(step, journey.artefact.capabilities)) skip(`it has no ${step.needs}`);
        await expect(step.take(journey)).resolves.toBeUndefined();
      });
  });
};
