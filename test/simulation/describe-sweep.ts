import { expect, test } from "vitest";
import {
  type Flow,
  listSingleFaults,
  PAIRED_FLOWS,
  runFlow,
  runUndisturbed,
  sampleFaultPairs,
  toHistoryName,
} from "./sweep.ts";

// Goal and method stand in sweep.ts.

/** Hundreds of histories, on a machine that has other things to do. */
const SLOW_MS = 120_000;

type Flows = Readonly<Record<string, Flow>>;

export const describeSweep = (flows: Flows): void => {
  test.each(Object.entries(flows))(
    "the flow %s ends correctly without a fault",
    async (_, flow) => {
      expect((await runUndisturbed(flow)).wrong).toEqual([]);
    },
  );

  test.each(Object.entries(flows))(
    "the flow %s survives every fault at every call",
    async (name, flow) => {
      const { calls } = await runUndisturbed(flow);

      for (const planned of listSingleFaults(calls))
        expect(
          (await runFlow(flow, planned)).wrong,
          `${toHistoryName(name, planned)} shows it`,
        ).toEqual([]);
    },
    SLOW_MS,
  );

  test.each(Object.entries(flows).filter(([name]) => name in PAIRED_FLOWS))(
    "the flow %s survives a sample of every two faults",
    async (name, flow) => {
      const { calls } = await runUndisturbed(flow);

      for (const planned of sampleFaultPairs(calls))
        expect(
          (await runFlow(flow, planned)).wrong,
          `${toHistoryName(name, planned)} shows it`,
        ).toEqual([]);
    },
    SLOW_MS,
  );
};
