import type { Log } from "@mailproof/core/ports/world";
import { type Attributes, SPAN_KINDS, type Span, type SpanSink } from "./tracing.ts";

// OTLP over HTTP, in JSON (https://opentelemetry.io/docs/specs/otlp/#otlphttp).

/** The usual numbers of OpenTelemetry's batch processor. */
const QUEUE_MAX = 2_048;
const BATCH_MAX = 512;
const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 10_000;
/** How long a stop waits for the collector. */
const CLOSE_MS = 3_000;

/** Then the same spans are sent again. Any other refusal is for good. */
const RETRIED = [429, 502, 503, 504];

export type OtlpTarget = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Attributes;
};

/** For the metrics. */
export type OnSpans = (outcome: "sent" | "dropped", count: number) => void;

type ExporterPorts = {
  readonly log: Log;
  readonly onSpans: OnSpans;
  /** Calls back later; the process may end before. */
  readonly schedule?: (work: () => void, ms: number) => void;
};

const scheduleUnref = (work: () => void, ms: number): void => void setTimeout(work, ms).unref();

/** Sends spans in batches, from a bounded queue. A collector that is down or slow costs spans, and nothing else. */
export const createOtlpExporter = (
  target: OtlpTarget,
  { log, onSpans, schedule = scheduleUnref }: ExporterPorts,
): SpanSink => {
  const queue: Span[] = [];
  const closing = new AbortController();
  let isScheduled = false;
  let isFailing = false;
  let sending: Promise<void> | null = null;

  /** One line when the failures begin. */
  const noteOutcome = ({ kind, why }: PostOutcome): void => {
    if (kind !== "sent" && !isFailing) log("traces_not_sent", why);
    if (kind === "sent" && isFailing) log("traces_sent_again", {});
    isFailing = kind !== "sent";
  };

  /** False: the collector does not take spans at the moment. */
  const sendBatch = async (): Promise<boolean> => {
    const batch = queue.slice(0, BATCH_MAX);
    const outcome = await postSpans(target, batch, closing.signal);
    noteOutcome(outcome);
    if (outcome.kind === "failed") return false;
    queue.splice(0, batch.length);
    onSpans(outcome.kind === "sent" ? "sent" : "dropped", batch.length);
    return true;
  };

  const sendAll = async (): Promise<void> => {
    while (queue.length > 0 && (await sendBatch())) {}
    if (queue.length > 0) sendLater();
  };

  const send = (): Promise<void> => {
    sending ??= sendAll().finally(() => {
      sending = null;
    });
    return sending;
  };

  const sendLater = (): void => {
    if (isScheduled || closing.signal.aborted) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      void send();
    }, INTERVAL_MS);
  };

  return {
    add: (span) => {
      if (queue.length >= QUEUE_MAX) return onSpans("dropped", 1);
      queue.push(span);
      if (queue.length >= BATCH_MAX && !isFailing) void send();
      else sendLater();
    },
    close: async () => {
      const timer = setTimeout(() => closing.abort(), CLOSE_MS);
      await sending;
      await send();
      clearTimeout(timer);
      closing.abort();
      if (queue.length > 0) onSpans("dropped", queue.length);
    },
  };
};

/** `failed`: the same spans are sent again. */
type PostOutcome = {
  readonly kind: "sent" | "refused" | "failed";
  readonly why: Readonly<Record<string, unknown>>;
};

const postSpans = async (
  { url, headers, resource }: OtlpTarget,
  spans: readonly Span[],
  closing: AbortSignal,
): Promise<PostOutcome> => {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(formatSpans(resource, spans)),
      signal: AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]),
      redirect: "manual",
    });
    await response.body?.cancel();
    const { ok, status } = response;
    if (ok) return { kind: "sent", why: {} };
    return { kind: RETRIED.includes(status) ? "failed" : "refused", why: { status } };
  } catch (cause) {
    return { kind: "failed", why: { cause } };
  }
};

const formatSpans = (resource: Attributes, spans: readonly Span[]) => ({
  resourceSpans: [
    {
      resource: { attributes: formatAttributes(resource) },
      scopeSpans: [{ scope: { name: "mailproof" }, spans: spans.map(formatSpan) }],
    },
  ],
});

const ERROR_STATUS = 2;

const formatSpan = ({ traceId, spanId, parentSpanId, name, ...span }: Span) => ({
  traceId,
  spanId,
  ...(parentSpanId !== null && { parentSpanId }),
  name,
  kind: SPAN_KINDS[span.kind],
  startTimeUnixNano: formatTime(span.startMs),
  endTimeUnixNano: formatTime(span.endMs),
  attributes: formatAttributes(span.attributes),
  links: span.links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
  status: span.isError ? { code: ERROR_STATUS } : {},
});

const NANOSECONDS = 1_000n;
const MICROSECONDS = 1_000;

/** A number has no room for nanoseconds since 1970. */
const formatTime = (ms: number): string =>
  String(BigInt(Math.round(ms * MICROSECONDS)) * NANOSECONDS);

const formatAttributes = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(value) },
  }));
