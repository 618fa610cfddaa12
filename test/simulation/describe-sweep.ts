import { expect, test } from "vitest";
import { type Flow, listSingleFaults, runFlow, sampleFaultPairs } from "./sweep.ts";

// Goal and method stand in sweep.ts.

const NO_FAULTS = new Map();
/** Hundreds of histories, on a machine that has other things to do. */
const SLOW_MS = 120_000;

type Flows = Readonly<Record<string, Flow>>;

/** A flow that only repeats what another has in it is tried with single faults. */
export const describeSweep = (flows: Flows, { inPairs = true } = {}): void => {
  test.each(Object.entries(flows))("%s, undisturbed, is as it should be", async (_, flow) => {
    expect((await runFlow(flow, NO_FAULTS)).wrong).toEqual([]);
  });

  test.each(Object.entries(flows))(
    "%s survives every fault at every call",
    async (_, flow) => {
      const { calls } = await runFlow(flow, NO_FAULTS);

      for (const planned of listSingleFaults(calls))
        expect(
          (await runFlow(flow, planned)).wrong,
          `faults: ${JSON.stringify([...planned])}`,
        ).toEqual([]);
    },
    SLOW_MS,
  );

  test.each(inPairs ? Object.entries(flows) : [])(
    "%s survives a sample of every two faults",
    async (_, flow) => {
      const { calls } = await runFlow(flow, NO_FAULTS);

      for (const planned of sampleFaultPairs(calls))
        expect(
          (await runFlow(flow, planned)).wrong,
          `faults: ${JSON.stringify([...planned])}`,
        ).toEqual([]);
    },
    SLOW_MS,
  );
};
