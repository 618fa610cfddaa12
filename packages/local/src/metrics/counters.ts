import { toStatusClass } from "@mailproof/api/http/status-class";
import { toCredits } from "@mailproof/core/money/credits";
import { findMovedAmounts } from "@mailproof/core/money/items";
import type { Https } from "@mailproof/core/ports/https";
import type { SessionReport } from "@mailproof/core/smtp-pool/session-report";
import type { Verification } from "@mailproof/core/verify/result";
import type { FinishedRequest } from "../server/request-record.ts";
import type { SqliteTable } from "../storage/sqlite-table.ts";
import { createReading, describeMetric } from "./described.ts";
import { createCounter, createHistogram } from "./exposition.ts";
import { CONNECTED, type ConnectionObserver } from "./observe-connections.ts";

/** From a cached verification to one that waits for a slow mail server. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** From a free slot to the longest wait at a crowded provider. */
const WAIT_SECONDS = [0.05, 0.25, 1, 2.5, 5, 15, 60, 300];

const defineCounters = () => ({
  requests: createCounter(describeMetric("mailproof_http_requests_total")),
  durations: createHistogram({
    ...describeMetric("mailproof_http_request_duration_seconds"),
    bounds: SECONDS,
  }),
  verifications: createCounter(describeMetric("mailproof_verifications_total")),
  sessions: createCounter(describeMetric("mailproof_smtp_sessions_total")),
  moved: createCounter(describeMetric("mailproof_credits_moved_total")),
  webhookCalls: createCounter(describeMetric("mailproof_webhook_calls_total")),
  slotWaits: createHistogram({
    ...describeMetric("mailproof_slot_wait_seconds"),
    bounds: WAIT_SECONDS,
  }),
});

/** What is counted as it happens. Ports are wrapped where the app is composed, so the core knows no metric. */
export const createCounters = () => {
  const counters = defineCounters();
  const { requests, durations, verifications, sessions, moved, webhookCalls, slotWaits } = counters;
  let open = 0;
  const openSessions = createReading("mailproof_smtp_sessions_open", () => [{ value: open }]);
  const observeTable = (table: SqliteTable): SqliteTable => ({
    ...table,
    transact: async (writes, attempt) => {
      const result = await table.transact(writes, attempt);
      if (result.outcome === "committed")
        for (const [kind, amount] of findMovedAmounts(writes)) moved.add([kind], toCredits(amount));
      return result;
    },
  });

  const connections: ConnectionObserver = {
    onConnect: (outcome) => {
      sessions.add([outcome]);
      if (outcome === CONNECTED) open++;
    },
    onClose: () => {
      open--;
    },
  };

  const observeHttps = (https: Https): Https => ({
    ...https,
    call: async (request) => {
      const outcome = await https.call(request);
      // A deliverability check reads documents by the same port, with GET.
      if (request.method === "POST")
        webhookCalls.add([outcome.kind === "answer" ? toStatusClass(outcome.status) : outcome.why]);
      return outcome;
    },
  });

  return {
    metrics: [...Object.values(counters).map(({ metric }) => metric), openSessions],
    observeTable,
    connections,
    observeHttps,
    onVerification: ({ status, provider }: Verification): void =>
      verifications.add([status, provider ?? "none"]),
    onSession: ({ provider, waitsMs }: SessionReport): void => {
      for (const ms of waitsMs) slotWaits.observe([provider], ms / 1000);
    },
    onRequest: ({ route, status, ms }: FinishedRequest): void => {
      requests.add([route ?? "none", String(status ?? "aborted")]);
      durations.observe([route ?? "none"], ms / 1000);
    },
  };
};

export type Counters = ReturnType<typeof createCounters>;
