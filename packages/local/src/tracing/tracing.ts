import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import type { Sampler } from "./otel-settings.ts";
import { formatTraceparent, parseTraceparent, type TraceContext } from "./trace-context.ts";

export type Attributes = Readonly<Record<string, string | number>>;

/** The kinds that this service has, with OTLP's numbers. */
export const SPAN_KINDS = { server: 2, client: 3, consumer: 5 } as const;

export type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: keyof typeof SPAN_KINDS;
  /** Since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Other work that the span is part of. */
  readonly links: readonly TraceContext[];
  readonly isError: boolean;
};

type SpanEnd = Pick<Span, "name" | "attributes" | "isError">;

export type OpenSpan = {
  /** Work inside is part of the span. */
  readonly run: <T>(work: () => T) => T;
  readonly end: (end: SpanEnd) => void;
};

/** Work that was reported after its end. `traces`: the work that it is part of, as traceparents. */
export type FinishedWork = SpanEnd &
  Pick<Span, "kind" | "startMs"> & { readonly ms: number; readonly traces: readonly string[] };

export type Tracing = {
  /** The traceparent of the work that is under way. */
  readonly getCurrent: () => string | undefined;
  /** Begins a span below `parent`, or below the work that is under way. */
  readonly begin: (kind: Span["kind"], parent?: string) => OpenSpan;
  readonly record: (work: FinishedWork) => void;
  /** Sends what is left. */
  readonly close: () => Promise<void>;
};

export type SpanSink = {
  readonly add: (span: Span) => void;
  readonly close: () => Promise<void>;
};

/** The same clock as that of the sessions with mail servers, which an engine thread may have. */
const getNowMs = (): number => performance.timeOrigin + performance.now();
const createId = (bytes: number): string => randomBytes(bytes).toString("hex");

export const createTracing = (sampler: Sampler, sink: SpanSink): Tracing => {
  const storage = new AsyncLocalStorage<TraceContext>();

  const createContext = (parent: TraceContext | null): TraceContext => {
    const traceId = parent?.traceId ?? createId(16);
    return { traceId, spanId: createId(8), isSampled: sampler(parent, traceId) };
  };

  const begin: Tracing["begin"] = (kind, header) => {
    const parent = parseTraceparent(header) ?? storage.getStore() ?? null;
    const context = createContext(parent);
    const { isSampled, ...ids } = context;
    const startMs = getNowMs();
    return {
      run: (work) => storage.run(context, work),
      end: (end) => {
        if (!isSampled) return;
        const parentSpanId = parent?.spanId ?? null;
        sink.add({ ...ids, ...end, parentSpanId, kind, startMs, endMs: getNowMs(), links: [] });
      },
    };
  };

  const record: Tracing["record"] = ({ traces, ms, startMs, ...work }) => {
    const all = traces.flatMap((trace) => parseTraceparent(trace) ?? []);
    // A session is below one request; that of the others is a link.
    const [parent = null, ...links] = all.toSorted(
      (a, b) => Number(b.isSampled) - Number(a.isSampled),
    );
    const { isSampled, ...ids } = createContext(parent);
    if (!isSampled) return;
    const parentSpanId = parent?.spanId ?? null;
    sink.add({ ...ids, ...work, parentSpanId, startMs, endMs: startMs + ms, links });
  };

  const getCurrent = (): string | undefined => {
    const context = storage.getStore();
    return context && formatTraceparent(context);
  };

  return { getCurrent, begin, record, close: sink.close };
};
