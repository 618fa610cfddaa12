import { findMailProvider } from "@mailproof/mail/mail-providers";
import type { ProbeResult } from "../smtp-pool/probe.ts";
import type { Judgement } from "./judge.ts";
import type { Verification } from "./result.ts";
import { findRetryCause } from "./retry.ts";

type AttemptResult = Pick<Verification, "retry"> & {
  readonly probeResult: ProbeResult | null;
  readonly mailHost: string | null;
};

/** Collects the facts that a later attempt at the address needs. They are not stored with the result. */
export const planLaterAttempt = (
  { status, reason }: Pick<Judgement, "status" | "reason">,
  { retry, probeResult, mailHost }: AttemptResult,
) => {
  const retryCause = findRetryCause({
    status,
    reason,
    retry,
    rule: probeResult?.finding.rule ?? null,
    code: probeResult?.reply?.code ?? null,
  });
  const exit = probeResult?.exit;
  return {
    ...(retryCause && { retryCause }),
    ...(retryCause === "throttled" && {
      throttleMinutes: findMailProvider(mailHost ?? "").throttleMinutes,
    }),
    ...(probeResult?.isWithheld && { isWithheld: true }),
    ...(probeResult?.unproven !== undefined && { unproven: probeResult.unproven }),
    ...(probeResult?.comeBack && { comeBack: probeResult.comeBack }),
    ...(retryCause === "greylisting" && exit !== undefined && { greylistedExit: exit }),
  };
};
