import {
  GetQueueAttributesCommand,
  type QueueAttributeName,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import {
  isDeadLetterQueue,
  type Message,
  type Queue,
  type SendOutcome,
  serializeMessage,
} from "@mailproof/core/ports/queue";
import {
  type Aws,
  createClientOptions,
  requireOk,
  retryAwsCall,
  toReply,
  withClock,
} from "./requests.ts";

const TIMEOUT_MS = 3_000;
const ENTRIES_MAX = 10;
/** The limit of one SQS request, all messages together. */
const BATCH_BYTES_MAX = 1_048_576;
/** A file of 500,000 addresses is a hundred requests, and its caller waits for them. */
const CONCURRENT_REQUESTS = 16;

/** Queue URLs by name, including dead-letter queues. */
export type QueueUrls = Readonly<Record<string, string>>;

type BatchEntry = {
  readonly at: number;
  readonly body: string;
  readonly delaySeconds: number;
  readonly group: string | undefined;
};

export const createSqsQueue = (aws: Aws, urls: QueueUrls): Queue => {
  // TLS protects the content of messages, so their checksums are not computed once more.
  const options = { ...createClientOptions(aws, "sqs", () => TIMEOUT_MS), md5: false } as const;
  const sqs = withClock(aws, new SQSClient(options));

  const getUrl = (queue: string): string => {
    const url = urls[queue];
    if (url === undefined) throw new RangeError(`this Lambda knows no queue ${queue}`);
    return url;
  };

  const sendBatch = async (
    url: string,
    entries: readonly BatchEntry[],
  ): Promise<Map<number, SendOutcome>> => {
    const command = new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: entries.map(({ at, body, delaySeconds, group }) => ({
        Id: String(at),
        MessageBody: body,
        DelaySeconds: delaySeconds,
        // A standard queue is fair to message groups: the backlog of one group does not delay other groups.
        ...(group !== undefined && { MessageGroupId: group }),
      })),
    });
    // A message may be delivered twice, so sending it again after a lost reply is harmless.
    const { reply, wasLost } = await retryAwsCall(aws, 1, () => toReply(sqs.send(command)));
    // Busy at every attempt: nothing was queued.
    const otherwise: SendOutcome = reply.kind === "lost" || wasLost ? "unknown" : "refused";
    const sent = new Map<number, SendOutcome>(
      entries.map(({ at }) => [at, reply.kind === "ok" ? "unknown" : otherwise]),
    );
    if (reply.kind !== "ok") return sent;
    const { Successful = [], Failed = [] } = reply.output;
    for (const { Id } of Successful) sent.set(Number(Id), "sent");
    // An entry that failed inside SQS may still be queued.
    for (const { Id, SenderFault } of Failed)
      sent.set(Number(Id), SenderFault && !wasLost ? "refused" : "unknown");
    return sent;
  };

  const countMessages = async (url: string): Promise<number> => {
    const command = new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: COUNTED });
    const { reply } = await retryAwsCall(aws, 2, () => toReply(sqs.send(command)));
    const { Attributes = {} } = requireOk("GetQueueAttributes", reply);
    return COUNTED.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  };

  return {
    sendMany: async (queue, messages) => {
      const url = getUrl(queue);
      const outcomes = new Map<number, SendOutcome>();
      const batches = toBatches(messages);
      const sendNext = async (): Promise<void> => {
        for (let batch = batches.shift(); batch; batch = batches.shift())
          for (const [at, sent] of await sendBatch(url, batch)) outcomes.set(at, sent);
      };
      await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, sendNext));
      return messages.map((_message, at) => outcomes.get(at) ?? "unknown");
    },

    countDeadLetters: async () => {
      const dead = Object.keys(urls).filter(isDeadLetterQueue).map(getUrl);
      const counts = await Promise.all(dead.map(countMessages));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
};

const COUNTED: QueueAttributeName[] = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesDelayed",
  "ApproximateNumberOfMessagesNotVisible",
];

/** Checks every message before it sends the first: a message that SQS would refuse is a bug of ours. */
const toBatches = (messages: readonly Message[]): BatchEntry[][] => {
  const batches: BatchEntry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [at, message] of messages.entries()) {
    const body = serializeMessage(message);
    const size = Buffer.byteLength(body);
    const isFull = batches.at(-1)?.length === ENTRIES_MAX || bytes + size > BATCH_BYTES_MAX;
    if (isFull) batches.push([]);
    bytes = isFull ? size : bytes + size;
    const { delaySeconds = 0, group } = message;
    batches.at(-1)?.push({ at, body, delaySeconds, group });
  }
  return batches;
};
