import { getProbeMode, type ProbePolicy } from "@mailproof/mail/probe-policy";
import type { Probe } from "./scheduler.ts";
import { createUnaskedResult, PROBE_POLICY } from "./unprobed-results.ts";

/** Every question to a mail server passes here, so no path can ask one that the operator excludes. */
export const createProbeByPolicy =
  (probe: Probe, policy: ProbePolicy): Probe =>
  async (question) => {
    const mode = getProbeMode(policy, question.hosts);
    if (mode === "never") return createUnaskedResult(question, PROBE_POLICY);
    if (mode === "yes") return probe(question);
    const { isCanary: _, ...careful } = question;
    return probe({ ...careful, probeCatchAll: false });
  };
