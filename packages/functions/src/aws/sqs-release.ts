import type { SQSRecord } from "aws-lambda";
import { createJsonService } from "./json-service.ts";
import { type Aws, getEndpoint, retryAwsCall, toAwsError } from "./requests.ts";

/** Makes a message visible again after this many seconds, instead of at the end of its visibility timeout. */
export type ReleaseMessage = (
  message: Pick<SQSRecord, "eventSourceARN" | "receiptHandle">,
  seconds: number,
) => Promise<void>;

const TIMEOUT_MS = 3_000;

export const createReleaseMessage = (aws: Aws): ReleaseMessage => {
  const sqs = createJsonService(aws, "sqs", "AmazonSQS", TIMEOUT_MS);
  return async ({ eventSourceARN, receiptHandle }, seconds) => {
    // The event names its queue, so the Lambda needs no setting.
    const [account = "", queue = ""] = eventSourceARN.split(":").slice(-2);
    const { reply } = await retryAwsCall(aws, 1, () =>
      sqs("ChangeMessageVisibility", {
        QueueUrl: `${getEndpoint(aws, "sqs")}/${account}/${queue}`,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
    if (reply.kind !== "ok") throw toAwsError("ChangeMessageVisibility", reply);
  };
};
