import { Readable } from "node:stream";
import { inspect } from "node:util";
import type { Worker } from "@mailproof/core/runtime/worker";
import { createSandboxEngine } from "@mailproof/core/verify/sandbox";
import { createInvoke } from "@mailproof/functions/aws/invoke";
import { type Aws, type AwsResponse, type SignedRequest } from "@mailproof/functions/aws/requests";
import type { ReleaseMessage } from "@mailproof/functions/aws/sqs-release";
import { createProberHandler, createRemoteProbe } from "@mailproof/functions/capabilities/prober";
import { createQueueHandler } from "@mailproof/functions/queue-handler";
import { createScheduleHandler } from "@mailproof/functions/schedule-handler";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { CREDENTIALS, REGION } from "../aws/emulators.ts";
import { createContext, createSqsEvent } from "../aws/events.ts";
import { RETRY_DELAYS_MS } from "../aws/faults.ts";

const received = (body: string | number, receiveCount = 1) => ({
  receipt: `receipt of ${body}`,
  body,
  receiveCount,
});

const counting = (handled: unknown[]): Worker => ({
  needs: [],
  lambda: { batch: 1, concurrency: 1 },
  queue: { name: "chunks", visibilitySeconds: 30, receivesMax: 3, concurrency: 10 },
  handle: async (_world, body) => {
    if (body === "poison") throw new Error("this cannot be done");
    handled.push(body);
  },
});

test("a worker's Lambda returns the failed messages and no other", async () => {
  const { world, logged } = givenWorld();
  const handled: unknown[] = [];
  const event = createSqsEvent("chunks", [received(1), received("poison", 2), received(3)]);

  const given: unknown[] = [];
  const giveBack: ReleaseMessage = async ({ receiptHandle }, seconds) =>
    void given.push([receiptHandle, seconds]);

  const response = await createQueueHandler(
    counting(handled),
    world,
    giveBack,
  )(event, createContext());

  expect(response).toEqual({ batchItemFailures: [{ itemIdentifier: "receipt of poison" }] });
  expect(given).toEqual([["receipt of poison", 30]]);
  expect(handled).toEqual([1, 3]);
  expect(logged).toMatchObject([
    { event: "message_failed", fields: { queue: "chunks", receiveCount: 2 } },
  ]);
});

test("a worker's Lambda returns a failed message that it cannot release, which returns later", async () => {
  const { world, logged } = givenWorld();
  const event = createSqsEvent("chunks", [received("poison")]);
  const giveBack = () => Promise.reject(new Error("the queue is away"));

  const { batchItemFailures } = await createQueueHandler(
    counting([]),
    world,
    giveBack,
  )(event, createContext());

  expect(batchItemFailures).toHaveLength(1);
  expect(logged.map((line) => line.event)).toEqual(["message_failed", "give_back_failed"]);
});

test("a worker's Lambda returns a message that is not JSON as failed", async () => {
  const { world } = givenWorld();
  const event = createSqsEvent("chunks", [received(1)]);
  const broken = { Records: event.Records.map((record) => ({ ...record, body: "{" })) };

  const { batchItemFailures } = await createQueueHandler(counting([]), world, async () => {})(
    broken,
    createContext(),
  );

  expect(batchItemFailures).toHaveLength(1);
});

const HOST: MailHost = { host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] };
const question = { recipient: "full@x.com", domain: "x.com", hosts: [HOST], probeCatchAll: true };

test("the prober in the VPC returns the same finding as a direct call", async () => {
  const { world } = givenWorld();
  const { probe } = createSandboxEngine(world);
  const prober = createProberHandler(probe);
  const overTheWire = createRemoteProbe(async (payload) =>
    JSON.parse(JSON.stringify(await prober(JSON.parse(JSON.stringify(payload)), createContext()))),
  );

  expect(await overTheWire(question)).toEqual(await probe(question));
});

test("a failure of a schedule or the prober appears in our own log and in no log line by AWS", async () => {
  const { world, logged } = givenWorld();
  const breaks = async (): Promise<never> => {
    throw new Error("no room for ann@secret.example");
  };
  const schedule = { name: "reconcile", everySeconds: 60, run: breaks };

  const thrown: string[] = [];
  for (const run of [
    () => createScheduleHandler(schedule, world)({}, createContext()),
    () => createProberHandler(breaks, world.log)(question, createContext()),
  ])
    await run().catch((error: Error) => thrown.push(inspect(error, { showHidden: true })));

  expect(thrown).toHaveLength(2);
  expect(thrown.join()).not.toContain("secret.example");
  expect(logged).toMatchObject([
    { event: "schedule_failed", fields: { schedule: "reconcile", cause: expect.any(Error) } },
    { event: "probe_broke", fields: { cause: expect.any(Error) } },
  ]);
});

const answering = (answers: readonly (() => AwsResponse)[]) => {
  const requests: SignedRequest[] = [];
  const aws: Aws = {
    region: REGION,
    credentials: CREDENTIALS,
    endpoints: {},
    transport: async (request) => {
      const answer = answers[requests.push(request) - 1];
      if (!answer) throw Object.assign(new Error("the line broke"), { code: "ECONNRESET" });
      return answer();
    },
    now: () => new Date(0),
    random: () => 0,
    sleep: async () => {},
  };
  return { invoke: createInvoke(aws, "prober"), asked: requests };
};

const createReply =
  (statusCode: number, text: string, headers = {}) =>
  (): AwsResponse => ({
    statusCode,
    headers,
    body: Readable.from([Buffer.from(text)]),
  });
const tooMany = createReply(429, "{}", { "x-amzn-errortype": "TooManyRequestsException" });

test("the Lambda client signs the call of another Lambda by name and reads its answer", async () => {
  const { invoke, asked: requests } = answering([createReply(200, '{"a":1}')]);

  expect(await invoke({ b: 2 })).toEqual({ a: 1 });
  expect(requests).toMatchObject([
    {
      method: "POST",
      hostname: "lambda.eu-central-1.amazonaws.com",
      path: "/2015-03-31/functions/prober/invocations",
      body: '{"b":2}',
      headers: { authorization: expect.stringContaining("/eu-central-1/lambda/aws4_request") },
    },
  ]);
});

test("the Lambda client repeats a call while the other Lambda is throttled", async () => {
  const { invoke } = answering([tooMany, tooMany, createReply(200, "1")]);

  expect(await invoke(0)).toBe(1);
});

test.each<[string, readonly (() => AwsResponse)[], string, number]>([
  [
    "fails",
    [createReply(200, '{"errorMessage":"no"}', { "x-amz-function-error": "Unhandled" })],
    "prober failed",
    1,
  ],
  [
    "does not exist",
    [createReply(404, "{}", { "x-amzn-errortype": "ResourceNotFoundException" })],
    "404",
    1,
  ],
  ["is throttled at every attempt", Array(9).fill(tooMany), "are busy", RETRY_DELAYS_MS.length + 1],
  ["does not answer", [], "lost", 1],
])(
  "the Lambda client throws for a Lambda that %s, and no mail server is asked twice",
  async (_case, answers, words, calls) => {
    const { invoke, asked: requests } = answering(answers);

    await expect(invoke(0)).rejects.toThrow(words);
    expect(requests).toHaveLength(calls);
  },
);
