import { ChangeMessageVisibilityCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import {
  type Aws,
  createClientOptions,
  getEndpoint,
  requireOk,
  retryAwsCall,
  toReply,
  withClock,
} from "./requests.ts";

/** Makes a message visible again after this many seconds, instead of at the end of its visibility timeout. */
export type ReleaseMessage = (
  message: Pick<SQSRecord, "eventSourceARN" | "receiptHandle">,
  seconds: number,
) => Promise<void>;

const TIMEOUT_MS = 3_000;

export const createReleaseMessage = (aws: Aws): ReleaseMessage => {
  const sqs = withClock(aws, new SQSClient(createClientOptions(aws, "sqs", () => TIMEOUT_MS)));
  return async ({ eventSourceARN, receiptHandle }, seconds) => {
    // The event names its queue, so the Lambda needs no setting.
    const [account = "", queue = ""] = eventSourceARN.split(":").slice(-2);
    const command = new ChangeMessageVisibilityCommand({
      QueueUrl: `${getEndpoint(aws, "sqs")}/${account}/${queue}`,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    });
    const { reply } = await retryAwsCall(aws, 1, () => toReply(sqs.send(command)));
    requireOk("ChangeMessageVisibility", reply);
  };
};
