import {
  isOfDeadLetters,
  type Message,
  type Queue,
  type Sent,
  travelForm,
} from "@mailproof/core/queue";
import { type Aws, asError, persist } from "./aws.ts";
import { jsonService } from "./json-service.ts";

const TIMEOUT_MS = 3_000;
const ENTRIES_MAX = 10;
/** What SQS takes in one request, all messages together. */
const BATCH_BYTES_MAX = 1_048_576;
/** A file of 500,000 addresses is a hundred requests, and its caller waits for them. */
const REQUESTS_AT_ONCE = 16;

/** The address of a queue by its name; queues of dead letters among them. */
export type QueueUrls = Readonly<Record<string, string>>;

type Entry = {
  readonly at: number;
  readonly body: string;
  readonly delaySeconds: number;
  readonly group: string | undefined;
};

type Answer = {
  readonly Successful?: readonly { readonly Id: string }[];
  readonly Failed?: readonly { readonly Id: string; readonly SenderFault: boolean }[];
};

export const sqsQueue = (aws: Aws, urls: QueueUrls): Queue => {
  const sqs = jsonService(aws, "sqs", "AmazonSQS", TIMEOUT_MS);

  const urlOf = (queue: string): string => {
    const url = urls[queue];
    if (url === undefined) throw new RangeError(`this Lambda knows no queue ${queue}`);
    return url;
  };

  const sendBatch = async (url: string, entries: readonly Entry[]): Promise<Map<number, Sent>> => {
    const input = {
      QueueUrl: url,
      Entries: entries.map(({ at, body, delaySeconds, group }) => ({
        Id: String(at),
        MessageBody: body,
        DelaySeconds: delaySeconds,
        // A standard queue is fair to the groups of its messages: one with a backlog does not hold up the others.
        ...(group !== undefined && { MessageGroupId: group }),
      })),
    };
    // A message may come twice, so it does no harm to send it again after a lost answer.
    const { heard, wasLost } = await persist(aws, 1, () => sqs<Answer>("SendMessageBatch", input));
    // Busy, and never heard of: nothing was queued.
    const otherwise: Sent = heard.kind === "lost" || wasLost ? "unknown" : "refused";
    const sent = new Map<number, Sent>(
      entries.map(({ at }) => [at, heard.kind === "ok" ? "unknown" : otherwise]),
    );
    if (heard.kind !== "ok") return sent;
    const { Successful = [], Failed = [] } = heard.output;
    for (const { Id } of Successful) sent.set(Number(Id), "sent");
    // What failed within SQS may have got in all the same.
    for (const { Id, SenderFault } of Failed)
      sent.set(Number(Id), SenderFault && !wasLost ? "refused" : "unknown");
    return sent;
  };

  const countIn = async (url: string): Promise<number> => {
    const input = { QueueUrl: url, AttributeNames: COUNTED };
    const { heard } = await persist(aws, 2, () =>
      sqs<{ Attributes?: Readonly<Record<string, string>> }>("GetQueueAttributes", input),
    );
    if (heard.kind !== "ok") throw asError("GetQueueAttributes", heard);
    const { Attributes = {} } = heard.output;
    return COUNTED.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  };

  return {
    sendMany: async (queue, messages) => {
      const url = urlOf(queue);
      const outcomes = new Map<number, Sent>();
      const batches = batchesOf(messages);
      const sendNext = async (): Promise<void> => {
        for (let batch = batches.shift(); batch; batch = batches.shift())
          for (const [at, sent] of await sendBatch(url, batch)) outcomes.set(at, sent);
      };
      await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, sendNext));
      return messages.map((_message, at) => outcomes.get(at) ?? "unknown");
    },

    countDead: async () => {
      const dead = Object.keys(urls).filter(isOfDeadLetters).map(urlOf);
      const counts = await Promise.all(dead.map(countIn));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
};

const COUNTED = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesDelayed",
  "ApproximateNumberOfMessagesNotVisible",
];

/** Every message is looked at before the first is sent: what SQS would refuse outright is an error of ours. */
const batchesOf = (messages: readonly Message[]): Entry[][] => {
  const batches: Entry[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [at, message] of messages.entries()) {
    const body = travelForm(message);
    const size = Buffer.byteLength(body);
    const isFull = batches.at(-1)?.length === ENTRIES_MAX || bytes + size > BATCH_BYTES_MAX;
    if (isFull) batches.push([]);
    bytes = isFull ? size : bytes + size;
    const { delaySeconds = 0, group } = message;
    batches.at(-1)?.push({ at, body, delaySeconds, group });
  }
  return batches;
};
