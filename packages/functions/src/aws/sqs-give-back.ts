import type { SQSRecord } from "aws-lambda";
import { type Aws, asError, endpointOf, persist } from "./aws.ts";
import { jsonService } from "./json-service.ts";

/** Has a message of an event handed out again after so many seconds, and not when its visibility ends. */
export type GiveBack = (
  message: Pick<SQSRecord, "eventSourceARN" | "receiptHandle">,
  seconds: number,
) => Promise<void>;

const TIMEOUT_MS = 3_000;

export const sqsGiveBack = (aws: Aws): GiveBack => {
  const sqs = jsonService(aws, "sqs", "AmazonSQS", TIMEOUT_MS);
  return async ({ eventSourceARN, receiptHandle }, seconds) => {
    // The event says where it came from, so the Lambda need not be told.
    const [account = "", queue = ""] = eventSourceARN.split(":").slice(-2);
    const { heard } = await persist(aws, 1, () =>
      sqs("ChangeMessageVisibility", {
        QueueUrl: `${endpointOf(aws, "sqs")}/${account}/${queue}`,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
    if (heard.kind !== "ok") throw asError("ChangeMessageVisibility", heard);
  };
};
