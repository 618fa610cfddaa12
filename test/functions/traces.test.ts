import { Readable } from "node:stream";
import { createInvoke } from "@mailproof/functions/aws/invoke";
import type { Aws, SignedRequest } from "@mailproof/functions/aws/requests";
import { createSqsQueue } from "@mailproof/functions/aws/sqs-queue";
import { expect, onTestFinished, test, vi } from "vitest";
import { CREDENTIALS, REGION } from "../aws/emulators.ts";

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
