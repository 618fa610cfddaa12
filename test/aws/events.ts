import type { ReceivedMessage } from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import type { Context, SQSEvent, SQSRecord } from "aws-lambda";

const HOUR_MS = 3_600_000;

/** What Lambda passes to a handler about its invocation. A slow machine is no reason for a time-out. */
export const createContext = (remainingMs = HOUR_MS): Context => ({
  functionName: "mailproof-test-HttpGetAccountFunction",
  functionVersion: "$LATEST",
  invokedFunctionArn:
    "arn:aws:lambda:eu-central-1:123456789012:function:mailproof-test-HttpGetAccountFunction",
  memoryLimitInMB: "512",
  awsRequestId: "8f5a7c8e-6d4e-4a56-9d51-7a1d2b7e0c11",
  logGroupName: "/aws/lambda/mailproof-test-HttpGetAccountFunction",
  logStreamName: "2026/11/21/[$LATEST]1",
  callbackWaitsForEmptyEventLoop: false,
  getRemainingTimeInMillis: () => remainingMs,
  done: () => {},
  fail: () => {},
  succeed: () => {},
});

/** What a Lambda is called with when AWS has received these messages for it. */
export const createSqsEvent = (queue: string, received: readonly ReceivedMessage[]): SQSEvent => ({
  Records: received.map(({ receipt, body, receiveCount }) =>
    createRecord(queue, receipt, body, receiveCount),
  ),
});

const createRecord = (
  queue: string,
  receipt: string,
  body: Json,
  receiveCount: number,
): SQSRecord => ({
  messageId: receipt,
  receiptHandle: receipt,
  body: JSON.stringify(body),
  attributes: {
    ApproximateReceiveCount: String(receiveCount),
    SentTimestamp: "1795219200000",
    SenderId: "AIDAIENQZJOLO23YVJ4VO",
    ApproximateFirstReceiveTimestamp: "1795219200001",
  },
  messageAttributes: {},
  md5OfBody: "e4e68fb7bd0e697a0ae8f1bb342846b3",
  eventSource: "aws:sqs",
  eventSourceARN: `arn:aws:sqs:eu-central-1:123456789012:${queue}`,
  awsRegion: "eu-central-1",
});
