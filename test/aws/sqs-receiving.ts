import { RECEIVE_MAX, type Received, type Receiving } from "@mailproof/core/queue";
import type { Json } from "@mailproof/core/table";
import type { Aws } from "@mailproof/functions/aws/aws";
import { asError } from "@mailproof/functions/aws/aws";
import { jsonService } from "@mailproof/functions/aws/json-service";
import type { QueueUrls } from "@mailproof/functions/aws/sqs-queue";

type Message = {
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly Attributes?: { readonly ApproximateReceiveCount?: string };
};

/** What AWS's own poller does before a Lambda is called with messages. A receipt is held with its queue. */
export const sqsReceiving = (aws: Aws, urls: () => Promise<QueueUrls>): Receiving => {
  const sqs = jsonService(aws, "sqs", "AmazonSQS", 10_000);
  const held = new Map<string, string>();

  const call = async <T>(operation: string, queue: string, input: object) =>
    sqs<T>(operation, { QueueUrl: (await urls())[queue], ...input });

  /** Whether the message was still in our hands, and then hidden for so long. */
  const hidden = async (receipt: string, seconds: number): Promise<boolean> => {
    const heard = await call("ChangeMessageVisibility", held.get(receipt) ?? "", {
      ReceiptHandle: receipt,
      VisibilityTimeout: seconds,
    });
    if (heard.kind === "ok") return true;
    if (heard.kind === "refused" && heard.code === "MessageNotInflight") return false;
    throw asError("ChangeMessageVisibility", heard);
  };

  return {
    receive: async (queue, { max = RECEIVE_MAX }) => {
      const heard = await call<{ Messages?: Message[] }>("ReceiveMessage", queue.name, {
        MaxNumberOfMessages: max,
        MessageSystemAttributeNames: ["ApproximateReceiveCount"],
      });
      if (heard.kind !== "ok") throw asError("ReceiveMessage", heard);
      const { Messages = [] } = heard.output;
      return Messages.map(({ ReceiptHandle, Body, Attributes }): Received => {
        held.set(ReceiptHandle, queue.name);
        return {
          receipt: ReceiptHandle,
          body: JSON.parse(Body) as Json,
          receiveCount: Number(Attributes?.ApproximateReceiveCount),
        };
      });
    },
    done: async (receipt) => {
      const isOurs = await hidden(receipt, HIDDEN_SECONDS);
      const queue = held.get(receipt) ?? "";
      if (isOurs) await call("DeleteMessage", queue, { ReceiptHandle: receipt });
      return isOurs;
    },
    release: hidden,
  };
};

/** SQS takes an old receipt in silence, so first it is asked whether it is old. */
const HIDDEN_SECONDS = 30;
