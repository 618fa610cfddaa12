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

test("every line is JSON, and none holds what the log may not hold", () => {
  expect(played.size).toBe(15);
  expect(JSON.stringify([...played.values()])).not.toContain("secret.example");
});

test("the first invocation of a process counts a cold start, for the whole stage, and no other does", () => {
  expect(measured("first")).toMatchObject([
    {
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
    },
  ]);
  expect(of("second").lines).toEqual([]);
});

test("a request that the caller got wrong is no line and no figure", () => {
  expect(of("wrong key").result).toMatchObject({ statusCode: 401 });
  expect(of("no JSON").result).toMatchObject({ statusCode: 400 });
  expect([...of("wrong key").lines, ...of("no JSON").lines]).toEqual([]);
});

test("a body is read once the key is known, and what is wrong with it is our own 400", () => {
  expect(of("no key, and no JSON").result).toMatchObject({ statusCode: 401 });
  expect(bodyOf("no JSON")).toMatchObject({
    error: { code: "INVALID_REQUEST", message: expect.stringContaining("must be valid JSON") },
  });
});

test("a failure of ours is an ERROR with the Lambda's request id and the caller's, and counted for this Lambda", () => {
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
    {
      _aws: {
        CloudWatchMetrics: [
          {
            Dimensions: [["service", "function_name"]],
            Metrics: [{ Name: "failures", Unit: "Count" }],
          },
        ],
      },
      service: "mailproof-ada",
      function_name: functionName,
      failures: 1,
    },
  ]);
});

test.each(["late answer", "tools, late"])(
  "%s: a Lambda that has no time left answers in our envelope",
  (name) => {
    expect(of(name).result).toMatchObject({
      statusCode: 500,
      headers: { "x-request-id": REQUEST_ID },
    });
    expect(bodyOf(name)).toMatchObject({ success: false, error: { code: "INTERNAL" } });
    expect(logged(name)).toMatchObject([{ level: "ERROR", message: "failure" }]);
    expect(measured(name)).toMatchObject([{ failures: 1 }]);
  },
);

test("what stands in no document is a 404 without a line; a request that came to the wrong Lambda is our failure", () => {
  expect(of("no document")).toMatchObject({ result: { statusCode: 404 }, lines: [] });
  expect(of("a route that has its own Lambda").result).toMatchObject({ statusCode: 500 });
  expect(logged("a route that has its own Lambda")).toMatchObject([
    { level: "ERROR", requestId: REQUEST_ID },
  ]);
  expect(measured("a route that has its own Lambda")).toMatchObject([{ failures: 1 }]);
});

test("a message that fails is reported, logged by its id and counted; the others of its batch are done", () => {
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
  expect(measured("queue")).toMatchObject([{ failures: 1, function_name: functionName }]);
  expect(logged("queue, stuck")).toMatchObject([
    { message: "message_failed" },
    { level: "WARN", message: "give_back_failed", messageId: "receipt of poison" },
  ]);
});

test("what an invocation measured is published in one line when it ends, also when it fails", () => {
  expect(of("schedule").result).toBeNull();
  expect(measured("schedule")).toMatchObject([
    {
      _aws: {
        CloudWatchMetrics: [
          {
            Dimensions: [["service"]],
            Metrics: [
              { Name: "due_age_seconds", Unit: "Seconds" },
              { Name: "smtp_sessions", Unit: "Count" },
            ],
          },
        ],
      },
      due_age_seconds: 7,
      smtp_sessions: [1, 1],
    },
  ]);
  expect(measured("schedule that fails")).toMatchObject([{ smtp_sessions: 1 }]);
});

test.each([
  ["schedule that fails", "schedule_failed"],
  ["prober that fails", "probe_broke"],
])("%s: AWS counts the error, and the cause is in our own log only", (name, event) => {
  const { thrown } = of(name).result;

  expect(thrown).toContain(`${event}: see the log entry of this name.`);
  expect(thrown).not.toContain("the table is gone");
  expect(logged(name)).toMatchObject([
    { level: "ERROR", message: event, cause: expect.stringContaining("the table is gone") },
  ]);
});
