import { toStatusClass } from "@mailproof/api/http/status-class";
import { toCredits } from "@mailproof/core/money/credits";
import { findMovedAmounts } from "@mailproof/core/money/items";
import type { Https } from "@mailproof/core/ports/https";
import type { SessionReport } from "@mailproof/core/smtp-pool/session-report";
import type { Verification } from "@mailproof/core/verify/result";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { FinishedRequest } from "../server/request-record.ts";
import type { SqliteTable } from "../storage/sqlite-table.ts";
import { CONNECTED, type ConnectionObserver } from "./observe-connections.ts";
import { describeMetric } from "./registry.ts";

/** The buckets range from a cached verification to a verification that waits for a slow mail server. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The buckets reach from a free slot to the longest wait at a crowded provider. */
const WAIT_SECONDS = [0.05, 0.25, 1, 2.5, 5, 15, 60, 300];

const defineCounters = (registry: Registry) => ({
  requests: new Counter(describeMetric(registry, "mailproof_http_requests_total")),
  durations: new Histogram({
    ...describeMetric(registry, "mailproof_http_request_duration_seconds"),
    buckets: SECONDS,
  }),
  verifications: new Counter(describeMetric(registry, "mailproof_verifications_total")),
  sessions: new Counter(describeMetric(registry, "mailproof_smtp_sessions_total")),
  moved: new Counter(describeMetric(registry, "mailproof_credits_moved_total")),
  webhookCalls: new Counter(describeMetric(registry, "mailproof_webhook_calls_total")),
  slotWaits: new Histogram({
    ...describeMetric(registry, "mailproof_slot_wait_seconds"),
    buckets: WAIT_SECONDS,
  }),
  openSessions: new Gauge(describeMetric(registry, "mailproof_smtp_sessions_open")),
});

/** Counts events as they happen. The app wraps its ports with these counters, so the core knows no metric. */
export const createCounters = () => {
  const registry = new Registry();
  const counters = defineCounters(registry);
  const { requests, durations, verifications, sessions, moved, webhookCalls } = counters;
  const { slotWaits, openSessions } = counters;
  const observeTable = (table: SqliteTable): SqliteTable => ({
    ...table,
    transact: async (writes, attempt) => {
      const result = await table.transact(writes, attempt);
      if (result.outcome === "committed")
        for (const [kind, amount] of findMovedAmounts(writes))
          moved.inc({ kind }, toCredits(amount));
      return result;
    },
  });

  const connections: ConnectionObserver = {
    onConnect: (outcome) => {
      sessions.inc({ outcome });
      if (outcome === CONNECTED) openSessions.inc();
    },
    onClose: () => openSessions.dec(),
  };

  const observeHttps = (https: Https): Https => ({
    ...https,
    call: async (request) => {
      const outcome = await https.call(request);
      // A deliverability check reads documents by the same port, with GET.
      if (request.method === "POST")
        webhookCalls.inc({
          outcome: outcome.kind === "answer" ? toStatusClass(outcome.status) : outcome.why,
        });
      return outcome;
    },
  });

  return {
    registry,
    observeTable,
    connections,
    observeHttps,
    onVerification: ({ status, provider }: Verification): void =>
      verifications.inc({ status, provider: provider ?? "none" }),
    onSession: ({ provider, waitsMs }: SessionReport): void => {
      for (const ms of waitsMs) slotWaits.observe({ provider }, ms / 1000);
    },
    onRequest: ({ route, status, ms }: FinishedRequest): void => {
      requests.inc({ route: route ?? "none", status: status ?? "aborted" });
      durations.observe({ route: route ?? "none" }, ms / 1000);
    },
  };
};

export type Counters = ReturnType<typeof createCounters>;
