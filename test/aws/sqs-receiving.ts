import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  MessageNotInflight,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { type QueueReceiver, RECEIVE_MAX, type ReceivedMessage } from "@mailproof/core/ports/queue";
import type { Json } from "@mailproof/core/ports/table";
import { type Aws, createClientOptions } from "@mailproof/functions/aws/requests";
import type { QueueUrls } from "@mailproof/functions/aws/sqs-queue";

/** What AWS's own poller does before a Lambda is called with messages. A receipt is held with its queue. */
export const createSqsReceiving = (aws: Aws, urls: () => Promise<QueueUrls>): QueueReceiver => {
  const options = createClientOptions(aws, "sqs", () => 10_000);
  const sqs = new SQSClient({ ...options, md5: false });
  const held = new Map<string, string>();

  const findUrl = async (queue: string) => ({ QueueUrl: (await urls())[queue] });

  /** Whether the message was still in our hands, and then hidden for so long. */
  const hideMessage = async (receipt: string, seconds: number): Promise<boolean> => {
    const command = new ChangeMessageVisibilityCommand({
      ...(await findUrl(held.get(receipt) ?? "")),
      ReceiptHandle: receipt,
      VisibilityTimeout: seconds,
    });
    try {
      await sqs.send(command);
      return true;
    } catch (error) {
      if (error instanceof MessageNotInflight) return false;
      throw error;
    }
  };

  return {
    receive: async (queue, { max = RECEIVE_MAX }) => {
      const command = new ReceiveMessageCommand({
        ...(await findUrl(queue.name)),
        MaxNumberOfMessages: max,
        MessageSystemAttributeNames: ["ApproximateReceiveCount"],
      });
      const { Messages = [] } = await sqs.send(command);
      return Messages.map(({ ReceiptHandle = "", Body = "", Attributes }): ReceivedMessage => {
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
      const url = await findUrl(held.get(receipt) ?? "");
      if (isOurs) await sqs.send(new DeleteMessageCommand({ ...url, ReceiptHandle: receipt }));
      return isOurs;
    },
    requeue: hideMessage,
  };
};

/** SQS takes an old receipt in silence, so first it is asked whether it is old. */
const HIDDEN_SECONDS = 30;
