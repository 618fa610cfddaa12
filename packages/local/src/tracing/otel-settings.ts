import * as v from "valibot";
import type { TraceContext } from "./trace-context.ts";

// The standard settings of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/),
// as far as they concern traces.

const PAIRS_MESSAGE = "must be a list such as name=value,other=value, percent-encoded";

/** Values are percent-encoded, as in a Baggage header. A message never repeats them: a header may be a secret. */
const createPairsSchema = (isName: (name: string) => boolean) =>
  v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }): ReadonlyMap<string, string> => {
      const pairs = parsePairs(dataset.value);
      if (pairs && [...pairs.keys()].every(isName)) return pairs;
      addIssue({ message: PAIRS_MESSAGE });
      return NEVER;
    }),
  );

const parsePairs = (text: string): ReadonlyMap<string, string> | null => {
  const pairs = new Map<string, string>();
  for (const pair of text.split(",").filter((one) => one.trim() !== "")) {
    const [name = "", ...values] = pair.split("=");
    const decoded = values.length === 0 ? null : decode(values.join("=").trim());
    if (name.trim() === "" || decoded === null) return null;
    pairs.set(name.trim(), decoded);
  }
  return pairs;
};

/** Null: it is not percent-encoded, or holds a line break. */
const decode = (text: string): string | null => {
  try {
    const decoded = decodeURIComponent(text);
    return /\p{Cc}/u.test(decoded) ? null : decoded;
  } catch {
    return null;
  }
};

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

const Endpoint = v.pipe(
  v.string(),
  v.check((text) => {
    if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
    const { username, password } = new URL(text);
    return username === "" && password === "";
  }, "must be an address such as http://127.0.0.1:4318, without a password"),
);

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const RATIO_MESSAGE = "must be a number from 0 to 1";
const Ratio = v.pipe(
  v.string(),
  v.regex(/^(?:\d+(?:\.\d+)?|\.\d+)$/, RATIO_MESSAGE),
  v.transform(Number),
  v.maxValue(1, RATIO_MESSAGE),
);

const ONLY_JSON = "must be http/json or not set: traces are sent as JSON over HTTP";

export const OTEL_SETTINGS = {
  OTEL_SDK_DISABLED: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.toLowerCase() === "true"),
    ),
    "false",
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: v.optional(Endpoint),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: v.optional(Endpoint),
  OTEL_EXPORTER_OTLP_PROTOCOL: v.optional(v.string()),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: v.optional(v.string()),
  OTEL_EXPORTER_OTLP_HEADERS: v.optional(
    createPairsSchema((name) => HEADER_NAME.test(name)),
    "",
  ),
  OTEL_SERVICE_NAME: v.optional(v.string()),
  OTEL_RESOURCE_ATTRIBUTES: v.optional(
    createPairsSchema(() => true),
    "",
  ),
  OTEL_TRACES_SAMPLER: v.optional(
    v.picklist(SAMPLERS, `must be one of ${SAMPLERS.join(", ")}`),
    "parentbased_always_on",
  ),
  OTEL_TRACES_SAMPLER_ARG: v.optional(Ratio, "1"),
};

const Otel = v.object(OTEL_SETTINGS);
export type OtelSettings = v.InferOutput<typeof Otel>;

/** Undefined: there are no traces. */
export const findTracesUrl = (settings: OtelSettings): string | undefined => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = settings;
  if (settings.OTEL_SDK_DISABLED) return undefined;
  return own ?? (base === undefined ? undefined : `${base.replace(/\/$/, "")}/v1/traces`);
};

type Protocol = "OTEL_EXPORTER_OTLP_PROTOCOL" | "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";

/** A process that sends no traces may have another program's protocol in its environment. */
export const createProtocolCheck = <Settings extends OtelSettings>(name: Protocol) =>
  v.check<Settings, string>(
    (settings) =>
      findTracesUrl(settings) === undefined || [undefined, "http/json"].includes(settings[name]),
    ONLY_JSON,
  );

/** As in every SDK, an empty setting is none. */
export const dropEmptyOtelSettings = (env: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(env).filter(([name, value]) => !(name.startsWith("OTEL_") && value === "")),
  );

/** Whether a span is sent. `parent`: null where the trace begins. */
export type Sampler = (parent: TraceContext | null, traceId: string) => boolean;

/** So many bits of a trace id decide by a ratio. */
const RATIO_DIGITS = 13;
const PARENT_BASED = "parentbased_";

export const createSampler = (settings: OtelSettings): Sampler => {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio } = settings;
  const isParentBased = name.startsWith(PARENT_BASED);
  const rootName = isParentBased ? name.slice(PARENT_BASED.length) : name;
  const share = rootName === "always_on" ? 1 : rootName === "always_off" ? 0 : ratio;
  return (parent, traceId) => {
    if (isParentBased && parent) return parent.isSampled;
    return Number.parseInt(traceId.slice(-RATIO_DIGITS), 16) < share * 16 ** RATIO_DIGITS;
  };
};

/** What all spans of this process have in common. */
export const listResourceAttributes = (settings: OtelSettings, version: string) => {
  const { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: given } = settings;
  return {
    "service.name": "mailproof",
    "service.version": version,
    ...Object.fromEntries(given),
    ...(name !== undefined && { "service.name": name }),
  };
};
