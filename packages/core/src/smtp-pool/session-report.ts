import { findMailProvider } from "@mailproof/mail/mail-providers";
import { isFault } from "@mailproof/mail/smtp/wire";
import type { PendingProbe, SessionSummary } from "./probe.ts";

/**
 * A session that has ended, for metrics and traces. Plain data, because an engine thread sends it to the server's thread,
 * and without the name of a mailbox, a domain or a host.
 */
export type SessionReport = {
  /** The provider's name in mail-provider-table.ts. */
  readonly provider: string;
  /** The side that ended the session, or the fault that prevented the connection. */
  readonly outcome: string;
  readonly startedAtMs: number;
  readonly ms: number;
  readonly recipients: number;
  /** The number of the session's recipients with a result. */
  readonly answered: number;
  /** How long each recipient waited for the session (ms). */
  readonly waitsMs: readonly number[];
  /** The traces of its recipients, each once. */
  readonly traces: readonly string[];
};

/** Absent when nobody wants reports. */
export type OnSession = ((report: SessionReport) => void) | undefined;

export const reportSession = (
  { onSession, now }: { readonly onSession?: OnSession; readonly now: () => Date },
  { host, startedAtMs, batch }: SessionStart,
  { attempts, answered, remaining }: SessionSummary,
): void => {
  const endedAtMs = now().getTime();
  const waitsMs = batch.map((one) => Math.max(0, startedAtMs - one.waitsSinceMs));
  // Recipients that the session did not reach wait for another session from now on.
  for (const one of remaining) one.waitsSinceMs = endedAtMs;
  onSession?.({
    provider: findMailProvider(host).name,
    outcome: findOutcome(attempts),
    startedAtMs,
    ms: endedAtMs - startedAtMs,
    recipients: batch.length,
    answered: answered.length,
    waitsMs,
    traces: [...new Set(batch.flatMap(({ trace }) => trace ?? []))],
  });
};

type SessionStart = {
  readonly host: string;
  readonly startedAtMs: number;
  readonly batch: readonly PendingProbe[];
};

const findOutcome = (attempts: SessionSummary["attempts"]): string => {
  const result = attempts.at(-1)?.result;
  if (!result) return "no_address";
  const { closedBy, ending } = result;
  return ending?.stage === "connect" && isFault(ending.reply) ? ending.reply : closedBy;
};
