import type { Https } from "@mailproof/core/ports/https";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { Probe } from "@mailproof/core/smtp-pool/scheduler";
import type { SessionReport } from "@mailproof/core/smtp-pool/session-report";
import type { FinishedRequest } from "../server/request-record.ts";
import type { Attributes, Tracing } from "./tracing.ts";

// Where spans begin and end. What stands in them: routes, results, amounts and ids of ours; never an address, a domain, a
// host of either side, or a key.

/** A request under way. */
export type RequestSpan = {
  readonly run: <T>(work: () => T) => T;
  readonly end: (request: FinishedRequest) => void;
};

export const beginRequestSpan = (
  tracing: Tracing,
  traceparent: string | undefined,
): RequestSpan => {
  const span = tracing.begin("server", traceparent);
  return {
    run: span.run,
    end: ({ id, route, status }) => {
      const [method, path] = route?.split(" ") ?? [];
      span.end({
        name: route ?? "HTTP",
        attributes: {
          "mailproof.request_id": id,
          ...(path !== undefined && method !== undefined && toRouteAttributes(method, path)),
          ...(status === null ? { "error.type": "aborted" } : toStatusAttributes(status)),
        },
        isError: status === null || status >= 500,
      });
    },
  };
};

const toRouteAttributes = (method: string, path: string): Attributes => ({
  "http.request.method": method,
  "http.route": path,
});
const toStatusAttributes = (status: number): Attributes => ({
  "http.response.status_code": status,
});

/** Each message is a trace: a job may end hours after its request. */
export const traceWorker =
  (tracing: Tracing) =>
  <W>(worker: Worker<W>): Worker<W> => {
    const { name: queue } = worker.queue;
    const handle: Worker<W>["handle"] = async (world, body) => {
      const span = tracing.begin("consumer");
      const job = typeof body === "object" && body !== null && "job" in body ? body["job"] : null;
      const attributes = {
        "messaging.destination.name": queue,
        ...(typeof job === "string" && { "mailproof.job": job }),
      };
      const end = (isError: boolean) => span.end({ name: `process ${queue}`, attributes, isError });
      try {
        await span.run(() => worker.handle(world, body));
        end(false);
      } catch (error) {
        end(true);
        throw error;
      }
    };
    return { ...worker, handle };
  };

/** The calls of webhooks. */
export const traceHttps = (tracing: Tracing, https: Https): Https => ({
  ...https,
  call: async (request) => {
    const span = tracing.begin("client");
    const outcome = await span.run(() => https.call(request));
    const isAnswer = outcome.kind === "answer";
    span.end({
      name: "webhook delivery",
      attributes: {
        "http.request.method": request.method,
        ...(isAnswer ? toStatusAttributes(outcome.status) : { "error.type": outcome.why }),
      },
      isError: !isAnswer || outcome.status >= 400,
    });
    return outcome;
  },
});

/** A question to a mail server names the work that asks it. */
export const traceProbe =
  (tracing: Tracing, probe: Probe): Probe =>
  (question) =>
    probe({ ...question, trace: tracing.getCurrent() });

export const recordSessionSpan = (tracing: Tracing, report: SessionReport): void => {
  const { provider, outcome, recipients, answered, waitsMs, startedAtMs, ms, traces } = report;
  tracing.record({
    name: "SMTP session",
    kind: "client",
    startMs: startedAtMs,
    ms,
    traces,
    attributes: {
      "mailproof.provider": provider,
      "mailproof.outcome": outcome,
      "mailproof.recipients": recipients,
      "mailproof.answered": answered,
      "mailproof.wait_ms": Math.round(Math.max(0, ...waitsMs)),
    },
    isError: answered === 0,
  });
};
