import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
} from "@opentelemetry/sdk-trace-node";

// Imported before the server, as operators import their SDK. Each span becomes a line of SPANS_FILE; without one, the
// exporter never answers, and no time of the SDK's own ends the wait.

const file = process.env["SPANS_FILE"];

const formatSpan = (span: ReadableSpan) => ({
  ...span.spanContext(),
  parentSpanId: span.parentSpanContext?.spanId,
  name: span.name,
  kind: span.kind,
  attributes: span.attributes,
  links: span.links.map(({ context }) => `${context.traceId} ${context.spanId}`),
  status: span.status,
  times: [span.startTime, span.endTime].map(([seconds, nanos]) => seconds * 1e3 + nanos / 1e6),
});
export type SentSpan = ReturnType<typeof formatSpan>;

const exporter = {
  export: (spans: readonly ReadableSpan[], done: (result: { readonly code: 0 }) => void) => {
    if (file === undefined) return;
    for (const span of spans) appendFileSync(file, `${JSON.stringify(formatSpan(span))}\n`);
    done({ code: 0 });
  },
  shutdown: () => Promise.resolve(),
};

const HOURS_MS = 9 * 3_600_000;
const processor = new BatchSpanProcessor(exporter, { exportTimeoutMillis: HOURS_MS });
if (isMainThread)
  new NodeTracerProvider({
    spanProcessors: [processor],
    forceFlushTimeoutMillis: HOURS_MS,
  }).register();
