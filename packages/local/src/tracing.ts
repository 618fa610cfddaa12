import type { Https } from "@mailproof/core/ports/https";
import type { Worker } from "@mailproof/core/runtime/worker";
import type { Probe } from "@mailproof/core/smtp-pool/probe";
import type { SessionReport } from "@mailproof/core/smtp-pool/session-report";
import {
  type Attributes,
  type Context,
  context,
  type Link,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import manifest from "../package.json" with { type: "json" };
import type { FinishedRequest } from "./server/request-record.ts";

// The start and end of spans. They contain routes, results, amounts and our ids; never an address, a domain, a host of either side, or a
// key. The operator adds the SDK that sends them (docs/operating.md); without an SDK this module does nothing.

const tracer = trace.getTracer("mailproof", manifest.version);

type SpanEnd = { readonly attributes: Attributes; readonly isError: boolean };

const beginSpan = (
  name: string,
  kind: SpanKind,
  parent: Context = context.active(),
  links: Link[] = [],
) => {
  const span = tracer.startSpan(name, { kind, links }, parent);
  return {
    /** Work inside is part of the span. */
    run: <T>(work: () => T): T => context.with(trace.setSpan(parent, span), work),
    end: ({ attributes, isError }: SpanEnd, lastName = name): void => {
      span.updateName(lastName).setAttributes(attributes);
      if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
};

/**
 * Reads only the traceparent of a client, because other headers may hold anything. It becomes a link and not the parent, whose flag would
 * decide whether this request is traced.
 */
export const beginRequestSpan = (traceparent: string | undefined) => {
  const sent = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, { traceparent }));
  const span = beginSpan("HTTP", SpanKind.SERVER, ROOT_CONTEXT, sent ? [{ context: sent }] : []);
  return {
    run: span.run,
    end: ({ id, route, status }: FinishedRequest): void => {
      const [method, path] = route?.split(" ") ?? [];
      const attributes = {
        "mailproof.request_id": id,
        ...(path !== undefined &&
          method !== undefined && { "http.request.method": method, "http.route": path }),
        ...(status === null ? { "error.type": "aborted" } : toStatusAttributes(status)),
      };
      span.end({ attributes, isError: status === null || status >= 500 }, route ?? undefined);
    },
  };
};

const toStatusAttributes = (status: number): Attributes => ({
  "http.response.status_code": status,
});

/** Each message starts a trace: a job may end hours after its request. */
export const traceWorker = <W>(worker: Worker<W>): Worker<W> => {
  const { name: queue } = worker.queue;
  const handle: Worker<W>["handle"] = async (world, body) => {
    const span = beginSpan(`process ${queue}`, SpanKind.CONSUMER, ROOT_CONTEXT);
    const job = typeof body === "object" && body !== null && "job" in body ? body["job"] : null;
    const attributes = {
      "messaging.destination.name": queue,
      ...(typeof job === "string" && { "mailproof.job": job }),
    };
    try {
      await span.run(() => worker.handle(world, body));
      span.end({ attributes, isError: false });
    } catch (error) {
      span.end({ attributes, isError: true });
      throw error;
    }
  };
  return { ...worker, handle };
};

export const traceHttps = (https: Https): Https => ({
  ...https,
  call: async (request) => {
    const span = beginSpan("webhook delivery", SpanKind.CLIENT);
    const outcome = await span.run(() => https.call(request));
    const isAnswer = outcome.kind === "answer";
    const attributes = {
      "http.request.method": request.method,
      ...(isAnswer ? toStatusAttributes(outcome.status) : { "error.type": outcome.why }),
    };
    span.end({ attributes, isError: !isAnswer || outcome.status >= 400 });
    return outcome;
  },
});

export const traceProbe =
  (probe: Probe): Probe =>
  (question) => {
    if (!trace.getActiveSpan()) return probe(question);
    const headers = {};
    propagation.inject(context.active(), headers);
    return probe({ ...question, trace: JSON.stringify(headers) });
  };

export const recordSessionSpan = (report: SessionReport): void => {
  const { provider, outcome, recipients, answered, waitsMs, startedAtMs, ms, traces } = report;
  // The session's parent is the work of one recipient, preferably a sampled one; the other recipients become links.
  const [parent, ...others] = traces
    .map((headers) => propagation.extract(ROOT_CONTEXT, JSON.parse(headers)))
    .toSorted((a, b) => getFlags(b) - getFlags(a));
  const links = others.flatMap((one) => {
    const link = trace.getSpanContext(one);
    return link ? [{ context: link }] : [];
  });
  const options = { kind: SpanKind.CLIENT, startTime: startedAtMs, links };
  const span = tracer.startSpan("SMTP session", options, parent ?? ROOT_CONTEXT);
  span.setAttributes({
    "mailproof.provider": provider,
    "mailproof.outcome": outcome,
    "mailproof.recipients": recipients,
    "mailproof.answered": answered,
    "mailproof.wait_ms": Math.round(Math.max(0, ...waitsMs)),
  });
  if (answered === 0) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(startedAtMs + ms);
};

const getFlags = (parent: Context): number => trace.getSpanContext(parent)?.traceFlags ?? 0;

type Flushed = { readonly forceFlush?: () => Promise<void> };

/** Sends the remaining spans. The API has no flush, but every SDK's provider does; the SDK reports a failure. */
export const flushSpans = async (): Promise<void> => {
  const provider = trace.getTracerProvider() as Flushed & { readonly getDelegate?: () => Flushed };
  const sdk = provider.getDelegate?.() ?? provider;
  await sdk.forceFlush?.().catch(() => undefined);
};
