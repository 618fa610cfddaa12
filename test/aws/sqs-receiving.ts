import { type QueueReceiver, RECEIVE_MAX, type ReceivedMessage } from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import { createJsonService } from "@mailproof/functions/aws/json-service";
import type { Aws } from "@mailproof/functions/aws/requests";
import { toAwsError } from "@mailproof/functions/aws/requests";
import type { QueueUrls } from "@mailproof/functions/aws/sqs-queue";

type Message = {
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly Attributes?: { readonly ApproximateReceiveCount?: string };
};

/** What AWS's own poller does before a Lambda is called with messages. A receipt is held with its queue. */
export const createSqsReceiving = (aws: Aws, urls: () => Promise<QueueUrls>): QueueReceiver => {
  const sqs = createJsonService(aws, "sqs", "AmazonSQS", 10_000);
  const held = new Map<string, string>();

  const call = async <T>(operation: string, queue: string, input: object) =>
    sqs<T>(operation, { QueueUrl: (await urls())[queue], ...input });

  /** Whether the message was still in our hands, and then hidden for so long. */
  const hideMessage = async (receipt: string, seconds: number): Promise<boolean> => {
    const reply = await call("ChangeMessageVisibility", held.get(receipt) ?? "", {
      ReceiptHandle: receipt,
      VisibilityTimeout: seconds,
    });
    if (reply.kind === "ok") return true;
    if (reply.kind === "refused" && reply.code === "MessageNotInflight") return false;
    throw toAwsError("ChangeMessageVisibility", reply);
  };

  return {
    receive: async (queue, { max = RECEIVE_MAX }) => {
      const reply = await call<{ Messages?: Message[] }>("ReceiveMessage", queue.name, {
        MaxNumberOfMessages: max,
        MessageSystemAttributeNames: ["ApproximateReceiveCount"],
      });
      if (reply.kind !== "ok") throw toAwsError("ReceiveMessage", reply);
      const { Messages = [] } = reply.output;
      return Messages.map(({ ReceiptHandle, Body, Attributes }): ReceivedMessage => {
        held.set(ReceiptHandle, queue.name);
        return {
          receipt: ReceiptHandle,
          body: JSON.parse(Body) as Json,
          receiveCount: Number(Attributes?.ApproximateReceiveCount),
        };
      });
    },
    acknowledge: async (receipt) => {
      const isOurs = await hideMessage(receipt, HIDDEN_SECONDS);
      const queue = held.get(receipt) ?? "";
      if (isOurs) await call("DeleteMessage", queue, { ReceiptHandle: receipt });
      return isOurs;
    },
    requeue: hideMessage,
  };
};

/** SQS takes an old receipt in silence, so first it is asked whether it is old. */
const HIDDEN_SECONDS = 30;
