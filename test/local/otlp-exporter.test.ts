import { readEnvironment } from "@mailproof/local/environment";
import { createSampler } from "@mailproof/local/tracing/otel-settings";
import { createOtlpExporter } from "@mailproof/local/tracing/otlp-exporter";
import { parseTraceparent } from "@mailproof/local/tracing/trace-context";
import type { Span } from "@mailproof/local/tracing/tracing";
import { expect, test } from "vitest";
import { eventually } from "../eventually.ts";
import { givenCollector } from "./collector.ts";

// How spans are sent, which of them, and what the settings of OpenTelemetry mean.

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";

/** As OpenTelemetry's batch processor has it. */
const QUEUE_MAX = 2_048;

const createSpan = (n: number): Span => ({
  traceId: TRACE,
  spanId: n.toString(16).padStart(16, "0"),
  parentSpanId: null,
  name: "a span",
  kind: "server",
  startMs: 1.5,
  endMs: 2.25,
  attributes: {},
  links: [],
  isError: false,
});

/** An exporter whose timers fire when the test says so. */
const givenExporter = (url: string) => {
  const logged: string[] = [];
  const counts = { sent: 0, dropped: 0 };
  const timers: (() => void)[] = [];
  const exporter = createOtlpExporter(
    { url, headers: {}, resource: {} },
    {
      log: (event) => void logged.push(event),
      onSpans: (outcome, count) => {
        counts[outcome] += count;
      },
      schedule: (work) => void timers.push(work),
    },
  );
  const fire = () => timers.splice(0).forEach((work) => work());
  return { ...exporter, counts, logged, fire, timers };
};

test("spans wait for a collector that is down, up to a bound, and those beyond it are counted", async () => {
  let status = 503;
  const { url, spans, requests } = await givenCollector(() => status);
  const { add, counts, logged, fire, timers } = givenExporter(url);
  for (let n = 0; n < QUEUE_MAX + 10; n++) add(createSpan(n));
  fire();
  await eventually(() => expect(timers).toHaveLength(1));

  expect(requests.length).toBeGreaterThan(0);
  expect(counts).toEqual({ sent: 0, dropped: 10 });
  status = 200;
  fire();
  await eventually(() => expect(counts).toEqual({ sent: QUEUE_MAX, dropped: 10 }));
  expect(new Set(spans().map(({ spanId }) => spanId)).size).toBe(QUEUE_MAX);
  expect(spans()[0]).toMatchObject({ startTimeUnixNano: "1500000", endTimeUnixNano: "2250000" });
  expect(logged).toEqual(["traces_not_sent", "traces_sent_again"]);
});

test("spans that the collector refuses for good are dropped and counted, and the next ones are sent", async () => {
  let status = 400;
  const { url } = await givenCollector(() => status);
  const { add, counts, fire } = givenExporter(url);
  add(createSpan(1));
  fire();
  await eventually(() => expect(counts).toEqual({ sent: 0, dropped: 1 }));
  status = 200;
  add(createSpan(2));
  fire();

  await eventually(() => expect(counts).toEqual({ sent: 1, dropped: 1 }));
});

test("what is left at the end is sent, or counted as dropped", async () => {
  const good = await givenCollector();
  const first = givenExporter(good.url);
  first.add(createSpan(1));
  await first.close();
  expect(good.spans()).toHaveLength(1);

  const second = givenExporter("http://127.0.0.1:1");
  second.add(createSpan(1));
  await second.close();
  expect(second.counts).toEqual({ sent: 0, dropped: 1 });
});

test.each([
  [`00-${TRACE}-${CALLER}-01`, { traceId: TRACE, spanId: CALLER, isSampled: true }],
  [`00-${TRACE}-${CALLER}-00`, { traceId: TRACE, spanId: CALLER, isSampled: false }],
  [`00-${TRACE}-${CALLER}-03`, { traceId: TRACE, spanId: CALLER, isSampled: true }],
  [`cc-${TRACE}-${CALLER}-01-more`, { traceId: TRACE, spanId: CALLER, isSampled: true }],
  [`00-${TRACE}-${CALLER}-01-more`, null],
  [`ff-${TRACE}-${CALLER}-01`, null],
  [`00-${TRACE.toUpperCase()}-${CALLER}-01`, null],
  [`00-${"0".repeat(32)}-${CALLER}-01`, null],
  [`00-${TRACE}-${"0".repeat(16)}-01`, null],
  [`00-${TRACE}-${CALLER}`, null],
  [`00-${TRACE}-${CALLER}-01,00-${TRACE}-${CALLER}-01`, null],
  [undefined, null],
])("the header traceparent %s", (header, context) => {
  expect(parseTraceparent(header)).toEqual(context);
});

const SAMPLED = { traceId: TRACE, spanId: CALLER, isSampled: true };
const UNSAMPLED = { ...SAMPLED, isSampled: false };
const LOW = "f".repeat(19) + "0".repeat(13);
const HIGH = "f".repeat(32);

test.each([
  // The sampler, its argument, and whether it takes: a new low trace, a new high one, a sampled parent's, an unsampled one's.
  [undefined, undefined, [true, true, true, false]],
  ["always_on", undefined, [true, true, true, true]],
  ["always_off", undefined, [false, false, false, false]],
  ["traceidratio", "0.5", [true, false, true, true]],
  ["parentbased_always_off", undefined, [false, false, true, false]],
  ["parentbased_traceidratio", "0.25", [true, false, true, false]],
  ["parentbased_traceidratio", "0", [false, false, true, false]],
  ["traceidratio", undefined, [true, true, true, true]],
])("the sampler %s with %s", (name, arg, taken) => {
  const settings = readEnvironment({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg });
  const sampler = createSampler(settings);

  expect([
    sampler(null, LOW),
    sampler(null, HIGH),
    sampler(SAMPLED, LOW),
    sampler(UNSAMPLED, LOW),
  ]).toEqual(taken);
});

test.each([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "must be http/json or not set"],
  [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf" }, "must be http/json or not set"],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" }, "must be an address such as"],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "secret-without-a-name" }, "must be a list such as name=value"],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "a=b%0d%0ac" }, "must be a list such as name=value"],
  [{ OTEL_TRACES_SAMPLER: "jaeger_remote" }, "must be one of always_on"],
  [{ OTEL_TRACES_SAMPLER_ARG: "2" }, "must be a number from 0 to 1"],
])("the setting %o stops the start", (set, message) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", ...set };
  const [[name, value] = ["", ""]] = Object.entries(set);

  expect(() => readEnvironment(env)).toThrow(`${name} ${message}`);
  expect(() => readEnvironment(env)).not.toThrow(`Invalid settings: ${value}`);
});

test("a process without a collector may have any protocol, and an empty setting is none", () => {
  expect(() =>
    readEnvironment({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_ENDPOINT: "" }),
  ).not.toThrow();
});
