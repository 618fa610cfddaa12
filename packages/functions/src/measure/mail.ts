import type { SessionReport } from "@mailproof/core/smtp-pool/session-report";
import type { Verification } from "@mailproof/core/verify/result";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { metrics } from "../metrics.ts";

export const countVerification = ({ status, provider }: Verification): void =>
  metrics.count("mailproof_verifications_total", { status }, { provider: provider ?? "none" });

/** Counts sessions; an alarm watches the share that reached no mail server. */
export const countSessions =
  (connect: SmtpConnect): SmtpConnect =>
  async (target, options) => {
    const wire = await connect(target, options);
    const name = "mailproof_smtp_sessions_total";
    if (typeof wire === "string") metrics.count(name, { outcome: "unreached" }, { fault: wire });
    else metrics.count(name, { outcome: "connected" });
    return wire;
  };

export const observeWaits = ({ provider, waitsMs }: SessionReport): void => {
  for (const ms of waitsMs)
    metrics.observe("mailproof_slot_wait_seconds", {}, { provider }, ms / 1000);
};
