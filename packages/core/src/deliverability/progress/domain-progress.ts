import { getOwnerId, type Payer } from "../../money/payer.ts";
import type { World } from "../../ports/world.ts";
import { listMonitors } from "../monitor-items.ts";
import { readEvidence } from "./evidence.ts";
import { chooseNext } from "./next-step.ts";
import { judgeReadiness } from "./readiness.ts";
import { judgeSteps, STEPS } from "./steps.ts";

/** Judges a domain's progress from a published record to a strict policy, by the stored evidence about it. */
export const findDomainProgress = async (
  world: Pick<World, "table" | "now">,
  payer: Pick<Payer, "account" | "mode">,
  domain: string,
) => {
  const [evidence, monitors] = await Promise.all([
    readEvidence(world, payer, domain),
    listMonitors(world.table, getOwnerId(payer)),
  ]);
  const readiness = judgeReadiness(evidence);
  const steps = judgeSteps(evidence, readiness);
  return {
    isMonitored: monitors.some((monitor) => monitor.domain === domain),
    steps: STEPS.map((name) => steps[name]),
    next: chooseNext(evidence, steps, readiness),
    readiness,
    reports: evidence.reports,
  };
};
