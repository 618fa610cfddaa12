/** The place of a piece of work in a trace, as W3C Trace Context has it. */
export type TraceContext = {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
};

// Later versions may append fields (https://www.w3.org/TR/trace-context/#versioning-of-traceparent).
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const ZEROS = /^0+$/;
const SAMPLED = 1;

/** Null: the header is absent or not valid, and a trace begins. */
export const parseTraceparent = (text: string | undefined): TraceContext | null => {
  const [, version = "", traceId = "", spanId = "", flags = "", more] =
    TRACEPARENT.exec(text ?? "") ?? [];
  const isReadable = version !== "" && version !== "ff" && (version !== "00" || more === undefined);
  if (!isReadable || ZEROS.test(traceId) || ZEROS.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
};

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
