import type { SmtpConnect } from "@mailproof/core/mail/smtp/wire";
import { toCredits } from "@mailproof/core/money/credits";
import { findMovedAmounts } from "@mailproof/core/money/items";
import type { Https } from "@mailproof/core/ports/https";
import type { Verification } from "@mailproof/core/verify/result";
import type { FinishedRequest } from "../server/request-record.ts";
import type { SqliteTable } from "../storage/sqlite-table.ts";
import { createCounter, createHistogram, type Metric } from "./exposition.ts";

/** From a cached verification to one that waits for a slow mail server. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const defineCounters = () => {
  const requests = createCounter({
    name: "mailproof_http_requests_total",
    help: "Requests by route and status; status is aborted if the client hung up first.",
    labels: ["route", "status"],
  });
  const durations = createHistogram({
    name: "mailproof_http_request_duration_seconds",
    help: "Time from a request's headers to the end of its response.",
    labels: ["route"],
    bounds: SECONDS,
  });
  const verifications = createCounter({
    name: "mailproof_verifications_total",
    help: "Addresses verified, without cached results and test keys; each attempt counts.",
    labels: ["status", "provider"],
  });
  const sessions = createCounter({
    name: "mailproof_smtp_sessions_total",
    help: "Attempts to connect to mail servers, by outcome.",
    labels: ["outcome"],
  });
  const moved = createCounter({
    name: "mailproof_credits_moved_total",
    help: "Credits moved, by kind of movement.",
    labels: ["kind"],
  });
  const webhookCalls = createCounter({
    name: "mailproof_webhook_calls_total",
    help: "Calls of webhooks and callbacks, by class of status or by fault.",
    labels: ["outcome"],
  });
  return { requests, durations, verifications, sessions, moved, webhookCalls };
};

/** What is counted as it happens. Ports are wrapped where the app is composed, so the core knows no metric. */
export const createCounters = () => {
  const counters = defineCounters();
  const { requests, durations, verifications, sessions, moved, webhookCalls } = counters;
  let open = 0;
  const openSessions: Metric = {
    name: "mailproof_smtp_sessions_open",
    help: "Open connections to mail servers.",
    type: "gauge",
    read: () => [{ value: open }],
  };
  const observeTable = (table: SqliteTable): SqliteTable => ({
    ...table,
    transact: async (writes, attempt) => {
      const result = await table.transact(writes, attempt);
      if (result.outcome === "committed")
        for (const [kind, amount] of findMovedAmounts(writes)) moved.add([kind], toCredits(amount));
      return result;
    },
  });

  const observeConnect =
    (connect: SmtpConnect): SmtpConnect =>
    async (target, options) => {
      const wire = await connect(target, options);
      sessions.add([typeof wire === "string" ? wire : "connected"]);
      if (typeof wire === "string") return wire;
      open++;
      let isOpen = true;
      const close = (): Promise<void> => {
        if (isOpen) open--;
        isOpen = false;
        return wire.close();
      };
      return { ...wire, close };
    };

  const observeHttps = (https: Https): Https => ({
    ...https,
    call: async (request) => {
      const outcome = await https.call(request);
      const label =
        outcome.kind === "answer" ? `${Math.floor(outcome.status / 100)}xx` : outcome.why;
      webhookCalls.add([label]);
      return outcome;
    },
  });

  return {
    metrics: [...Object.values(counters).map(({ metric }) => metric), openSessions],
    observeTable,
    observeConnect,
    observeHttps,
    onVerification: ({ status, provider }: Verification): void =>
      verifications.add([status, provider ?? "none"]),
    onRequest: ({ route, status, ms }: FinishedRequest): void => {
      requests.add([route ?? "none", String(status ?? "aborted")]);
      durations.observe([route ?? "none"], ms / 1000);
    },
  };
};

export type Counters = ReturnType<typeof createCounters>;
