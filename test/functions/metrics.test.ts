import { Readable } from "node:stream";
import { METRICS_ON_AWS, METRICS_ON_MACHINE } from "@mailproof/core/background/metric-names";
import { createInvoke } from "@mailproof/functions/aws/invoke";
import type { Aws, SignedRequest } from "@mailproof/functions/aws/requests";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { createMetricLog } from "@mailproof/functions/metrics";
import { expect, onTestFinished, test, vi } from "vitest";
import { CREDENTIALS, REGION } from "../aws/emulators.ts";

// What is published is in chain.test.ts, which reads the log of a process.

const given = () => {
  let nowMs = 0;
  const written: object[] = [];
  const log = createMetricLog(
    () => nowMs,
    ({ dimensions, fields, values }) =>
      written.push({ ...dimensions, ...fields, ...Object.fromEntries(values) }),
  );
  return { log, written, later: (ms: number) => (nowMs += ms) };
};

const SESSIONS = "mailproof_smtp_sessions_total";

test("the metric log adds up counts and lists durations, in a line per combination of dimensions and fields", () => {
  const { log, written } = given();

  log.count(SESSIONS, { outcome: "connected" });
  log.count(SESSIONS, { outcome: "unreached" }, { fault: "timeout" });
  log.count(SESSIONS, { outcome: "connected" });
  log.count("mailproof_credits_moved_total", { kind: "charge" }, {}, 2.5);
  log.observe("mailproof_slot_wait_seconds", {}, { provider: "google" }, 3);
  log.observe("mailproof_slot_wait_seconds", {}, { provider: "google" }, 1);
  log.set("mailproof_due_age_seconds", 9);
  log.set("mailproof_due_age_seconds", 7);
  log.publish();

  expect(written).toEqual([
    { outcome: "connected", [SESSIONS]: [2] },
    { outcome: "unreached", fault: "timeout", [SESSIONS]: [1] },
    { kind: "charge", mailproof_credits_moved_total: [2.5] },
    { provider: "google", mailproof_slot_wait_seconds: [3, 1] },
    { mailproof_due_age_seconds: [7] },
  ]);
  log.publish();
  expect(written).toHaveLength(5);
});

test("the metric log publishes a count within a minute while the invocation continues", () => {
  const { log, written, later } = given();

  log.count(SESSIONS, { outcome: "connected" });
  later(59_999);
  log.count(SESSIONS, { outcome: "connected" });
  expect(written).toEqual([]);

  later(1);
  log.count(SESSIONS, { outcome: "connected" });
  expect(written).toEqual([{ outcome: "connected", [SESSIONS]: [2] }]);

  log.publish();
  expect(written).toHaveLength(2);
});

const all = Object.entries({ ...METRICS_ON_MACHINE, ...METRICS_ON_AWS });

const ENDINGS = {
  counter: /^(?:mailproof|process)(?:_[a-z]+)+_total$/,
  histogram: /^mailproof(?:_[a-z]+)+_seconds$/,
  gauge: /^(?:mailproof|process)(?:_[a-z]+)+(?<!_total)$/,
};

// Powertools names one itself.
test.each(all.filter(([name]) => name !== "ColdStart"))(
  "the metric %s follows Prometheus' naming and includes a description",
  (name, { type, help }) => {
    expect(name).toMatch(ENDINGS[type]);
    expect(help).toMatch(/\.$/);
  },
);

test("each metric of only one runtime states its reason", () => {
  const reasons = all.flatMap(([, metric]) => {
    if ("onAws" in metric) return [metric.onAws];
    return "onOneMachine" in metric ? [metric.onOneMachine] : [];
  });

  expect(reasons.length).toBeGreaterThan(10);
  for (const reason of reasons) expect(reason).toMatch(/^[\S].{15,}\.$/);
});

test("no dimension on AWS reveals more than the local metric's label", () => {
  for (const [name, { labels, dimensions, fields }] of Object.entries(METRICS_ON_AWS).flatMap(
    ([name, metric]) => ("labels" in metric ? [[name, metric] as const] : []),
  )) {
    const documented: readonly string[] = [...labels, "status", "fault"];
    expect([
      name,
      [...Object.keys(dimensions), ...fields].filter((one) => !documented.includes(one)),
    ]).toEqual([name, []]);
  }
});

// With TRACES=on Lambda starts a trace for a call of the API. SQS keeps the header of a request with its messages, and Lambda
// continues the trace in the worker that receives them. So each request to AWS has to contain the header. No emulator copies
// it into AWSTraceHeader, or starts a worker's segment from there: both are AWS's own work, which no test here shows.

const TRACE = "Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1";

const createRecordingAws = () => {
  const requests: SignedRequest[] = [];
  const aws: Aws = {
    region: REGION,
    credentials: CREDENTIALS,
    endpoints: {},
    transport: async (request) => {
      requests.push(request);
      const text = JSON.stringify({ Successful: [{ Id: "0" }], Failed: [] });
      return { statusCode: 200, headers: {}, body: Readable.from([Buffer.from(text)]) };
    },
    now: () => new Date(0),
    random: () => 0,
    sleep: async () => {},
  };
  const listTraces = () =>
    requests.map(({ headers }) =>
      Object.entries(headers)
        .filter(([name]) => name.toLowerCase() === "x-amzn-trace-id")
        .map(([, value]) => value),
    );
  return { aws, listTraces };
};

const whenAsked = async (aws: Aws): Promise<void> => {
  await createSqsQueue(aws, { chunks: "https://sqs.example/1/chunks" }).sendMany("chunks", [
    { body: 1 },
  ]);
  await createInvoke(aws, "prober")({ a: 1 });
};

test("the trace of a Lambda continues in its messages and in the prober", async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "mailproof-HttpVerifyEmail");
  vi.stubEnv("_X_AMZN_TRACE_ID", TRACE);
  const { aws, listTraces } = createRecordingAws();

  await whenAsked(aws);

  expect(listTraces()).toEqual([[TRACE], [TRACE]]);
});

test("a request to AWS contains no trace outside of a Lambda", async () => {
  const { aws, listTraces } = createRecordingAws();

  await whenAsked(aws);

  expect(listTraces()).toEqual([[], []]);
});
