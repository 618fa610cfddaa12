import { expect, test } from "vitest";
import { type Flow, playFlow, sampledPairs, singles } from "./sweep.ts";

// Goal and method stand in sweep.ts.

const NOTHING_GOES_WRONG = new Map();

type Flows = Readonly<Record<string, Flow>>;

/** A flow that only repeats what another has in it is tried with single faults. */
export const sweep = (flows: Flows, { inPairs = true } = {}): void => {
  test.each(Object.entries(flows))("%s, undisturbed, is as it should be", async (_, flow) => {
    expect((await playFlow(flow, NOTHING_GOES_WRONG)).wrong).toEqual([]);
  });

  test.each(Object.entries(flows))("%s survives every fault at every call", async (_, flow) => {
    const { calls } = await playFlow(flow, NOTHING_GOES_WRONG);

    for (const planned of singles(calls))
      expect(
        (await playFlow(flow, planned)).wrong,
        `faults: ${JSON.stringify([...planned])}`,
      ).toEqual([]);
  });

  test.each(inPairs ? Object.entries(flows) : [])(
    "%s survives a sample of every two faults",
    async (_, flow) => {
      const { calls } = await playFlow(flow, NOTHING_GOES_WRONG);

      for (const planned of sampledPairs(calls))
        expect(
          (await playFlow(flow, planned)).wrong,
          `faults: ${JSON.stringify([...planned])}`,
        ).toEqual([]);
    },
  );
};
