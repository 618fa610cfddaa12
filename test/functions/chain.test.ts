import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { createContext } from "../aws/events.ts";

// What a Lambda writes to its log, and answers, for each kind of invocation: invocations.ts plays them in one process.

type Line = Readonly<Record<string, unknown>> & {
  readonly level?: string;
  readonly message?: string;
  readonly _aws?: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[];
    }[];
  };
};
type Played = { readonly lines: readonly Line[]; readonly result: Record<string, unknown> };

const played = new Map<string, Played>();
const PLAYED = /^INVOCATION (.*)\n([\s\S]*?)^RESULT (.*)$/gm;

beforeAll(async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["test/functions/invocations.ts"],
    {
      env: {
        POWERTOOLS_SERVICE_NAME: "mailproof-ada",
        AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
      },
    },
  );
  for (const [, name = "", lines = "", result = ""] of stdout.matchAll(PLAYED))
    played.set(name, {
      lines: lines
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Line),
      result: JSON.parse(result) as Record<string, unknown>,
    });
});

const of = (name: string): Played => {
  const found = played.get(name);
  if (!found) throw new Error(`${name} was not played`);
  return found;
};
const bodyOf = (name: string) => JSON.parse(String(of(name).result["body"])) as object;
const logged = (name: string) => of(name).lines.filter(({ _aws }) => !_aws);
const measured = (name: string) => of(name).lines.filter(({ _aws }) => _aws);

const { functionName, awsRequestId } = createContext();
const REQUEST_ID = "JKJaXmPLvHcESHA=";

test("a Lambda writes every log line as JSON without a secret", () => {
  expect(played.size).toBe(19);
  expect(JSON.stringify([...played.values()])).not.toContain("secret.example");
});

test("the first invocation of a process counts a cold start for the stage, and no later one does", () => {
  expect(measured("first")[0]).toMatchObject({
    _aws: {
      CloudWatchMetrics: [
        {
          Namespace: "Mailproof",
          Dimensions: [["service"]],
          Metrics: [{ Name: "ColdStart", Unit: "Count" }],
        },
      ],
    },
    service: "mailproof-ada",
    ColdStart: 1,
  });
  expect(of("second").lines).not.toContainEqual(expect.objectContaining({ ColdStart: 1 }));
});

const FAILURES = "mailproof_lambda_failures_total";
const REQUESTS = "mailproof_http_requests_total";
const DURATIONS = "mailproof_http_request_duration_seconds";

test("a Lambda counts a request once with its duration and class of status, and logs its route", () => {
  expect(of("second").lines).toEqual([
    {
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          {
            Namespace: "Mailproof",
            Dimensions: [["service", "status"]],
            Metrics: [
              { Name: REQUESTS, Unit: "Count" },
              { Name: DURATIONS, Unit: "Seconds" },
            ],
          },
        ],
      },
      service: "mailproof-ada",
      status: "2xx",
      route: "GET /v1/account",
      [REQUESTS]: 1,
      [DURATIONS]: expect.any(Number),
    },
  ]);
});

test("a Lambda logs one line, a count of the request, when the caller made the mistake", () => {
  const counted = [{ status: "4xx", [REQUESTS]: 1 }];
  expect(of("wrong key").result).toMatchObject({ statusCode: 401 });
  expect(of("wrong key").lines).toMatchObject([{ ...counted[0], route: "GET /v1/account" }]);
  expect(of("no JSON").result).toMatchObject({ statusCode: 400 });
  expect(of("no JSON").lines).toMatchObject([{ ...counted[0], route: "POST /v1/verify" }]);
});

test("a Lambda counts verifications by status and credits by kind, and logs the provider", () => {
  expect(of("charged").result).toMatchObject({ statusCode: 200 });
  const moved = measured("charged").filter((line) => "mailproof_credits_moved_total" in line);
  expect(moved.length).toBeGreaterThan(0);
  expect(moved).toMatchObject(
    moved.map(() => ({
      kind: expect.stringMatching(/^(?:charge|hold|settle|release)$/),
      mailproof_credits_moved_total: expect.any(Number),
    })),
  );
  expect(measured("charged")).toContainEqual(
    expect.objectContaining({
      status: "valid",
      provider: expect.any(String),
      mailproof_verifications_total: 1,
    }),
  );
});

test("a Lambda counts sessions and waits for a slot, and a line of many values keeps its fields", () => {
  const [session, ...waits] = measured("mail servers");
  expect(session).toMatchObject({
    outcome: "unreached",
    fault: "connect_timeout",
    mailproof_smtp_sessions_total: 1,
  });
  const values = waits.map((line) => line["mailproof_slot_wait_seconds"] as readonly number[]);
  expect(values.flat()).toEqual(Array.from({ length: 250 }, () => 0.5));
  // CloudWatch takes a hundred values of a metric in one line.
  for (const some of values) expect(some.length).toBeLessThanOrEqual(100);
  for (const line of waits) expect(line["provider"]).toBe("google");
});

test("a Lambda counts a webhook's call by its outcome, and not the document of a check", () => {
  expect(measured("webhooks")).toMatchObject([
    { outcome: "failed", fault: "tls_failed", mailproof_webhook_calls_total: 1 },
    { outcome: "4xx", mailproof_webhook_calls_total: 1 },
  ]);
});

test("a Lambda reads the body after it knows the key, and answers a faulty body with our own 400", () => {
  expect(of("no key, and no JSON").result).toMatchObject({ statusCode: 401 });
  expect(bodyOf("no JSON")).toMatchObject({
    error: { code: "INVALID_REQUEST", message: expect.stringContaining("must be valid JSON") },
  });
});

test("a Lambda logs a failure of ours as ERROR with its own and the caller's request ids, and counts it", () => {
  expect(of("broken table").result).toMatchObject({ statusCode: 503 });
  expect(logged("broken table")).toMatchObject([
    {
      level: "ERROR",
      message: "failure",
      service: "mailproof-ada",
      function_request_id: awsRequestId,
      function_name: functionName,
      requestId: REQUEST_ID,
      cause: expect.stringContaining("the table is gone"),
    },
  ]);
  expect(measured("broken table")).toMatchObject([
    { status: "5xx", [REQUESTS]: 1 },
    {
      _aws: {
        CloudWatchMetrics: [
          {
            Dimensions: [["service", "function_name"]],
            Metrics: [{ Name: FAILURES, Unit: "Count" }],
          },
        ],
      },
      service: "mailproof-ada",
      function_name: functionName,
      [FAILURES]: 1,
    },
  ]);
});

test.each(["late answer", "tools, late"])(
  "a Lambda out of time answers in our envelope: %s",
  (name) => {
    expect(of(name).result).toMatchObject({
      statusCode: 500,
      headers: { "x-request-id": REQUEST_ID },
    });
    expect(bodyOf(name)).toMatchObject({ success: false, error: { code: "INTERNAL" } });
    expect(logged(name)).toMatchObject([{ level: "ERROR", message: "failure" }]);
    expect(measured(name)).toMatchObject([{ [REQUESTS]: 1 }, { [FAILURES]: 1 }]);
  },
);

test("the fallback Lambda answers 404 for an unknown path, and 500 for a route that has its own Lambda", () => {
  expect(of("no document")).toMatchObject({
    result: { statusCode: 404 },
    lines: [{ status: "4xx", route: "none" }],
  });
  expect(of("a document")).toMatchObject({
    result: { statusCode: 200 },
    lines: [{ status: "2xx", route: "document" }],
  });
  expect(of("a route that has its own Lambda").result).toMatchObject({ statusCode: 500 });
  expect(logged("a route that has its own Lambda")).toMatchObject([
    { level: "ERROR", requestId: REQUEST_ID },
  ]);
  expect(measured("a route that has its own Lambda")).toMatchObject([
    { status: "5xx" },
    { [FAILURES]: 1 },
  ]);
});

test("a Lambda reports, logs and counts a failed message, and completes the others of its batch", () => {
  expect(of("queue").result).toEqual({
    batchItemFailures: [{ itemIdentifier: "receipt of poison" }],
  });
  expect(logged("queue")).toMatchObject([
    {
      level: "WARN",
      message: "message_failed",
      messageId: "receipt of poison",
      function_request_id: awsRequestId,
    },
  ]);
  expect(logged("queue")[0]).not.toHaveProperty("requestId");
  expect(measured("queue")).toMatchObject([{ [FAILURES]: 1, function_name: functionName }]);
  expect(logged("queue, stuck")).toMatchObject([
    { message: "message_failed" },
    { level: "WARN", message: "give_back_failed", messageId: "receipt of poison" },
  ]);
});

test("a Lambda publishes its measurements at its end, even after a failure, a line per combination", () => {
  expect(of("schedule").result).toBeNull();
  expect(measured("schedule")).toMatchObject([
    {
      _aws: {
        CloudWatchMetrics: [
          {
            Dimensions: [["service"]],
            Metrics: [{ Name: "mailproof_due_age_seconds", Unit: "Seconds" }],
          },
        ],
      },
      mailproof_due_age_seconds: 7,
    },
    {
      _aws: { CloudWatchMetrics: [{ Dimensions: [["service", "outcome"]] }] },
      outcome: "connected",
      mailproof_smtp_sessions_total: 2,
    },
  ]);
  expect(measured("schedule that fails")).toMatchObject([{ mailproof_smtp_sessions_total: 1 }]);
});

test.each([
  ["schedule that fails", "schedule_failed"],
  ["prober that fails", "probe_broke"],
])("AWS counts the error of the %s, and only our own log contains the cause", (name, event) => {
  const { thrown } = of(name).result;

  expect(thrown).toContain(`${event}: see the log entry of this name.`);
  expect(thrown).not.toContain("the table is gone");
  expect(logged(name)).toMatchObject([
    { level: "ERROR", message: event, cause: expect.stringContaining("the table is gone") },
  ]);
});
