import type { Json } from "./table.ts";

/**
 * A queue is named and described by the worker that reads it.
 * A message that is not done within `visibilitySeconds` is handed out again; after `receivesMax` hand-outs
 * it goes to the queue of the dead letters.
 */
export type QueueConfig = {
  readonly name: string;
  readonly visibilitySeconds: number;
  readonly receivesMax: number;
  /** What one machine has in hand at the same time, in the weight of the messages: rows of chunks, else messages. */
  readonly concurrency: number;
  /** Of that, how much also while its thread has much to do: much, where all they do is wait for others. */
  readonly concurrencyWhenBusy?: number;
};

const DEAD_LETTER_SUFFIX = "-dead";

export const toDeadLetterQueueName = (queue: string): string => `${queue}${DEAD_LETTER_SUFFIX}`;

/** Where the messages of a queue go that nobody could handle. From there they go nowhere but to be done. */
export const toDeadLetterQueue = (queue: QueueConfig): QueueConfig => ({
  ...queue,
  name: toDeadLetterQueueName(queue.name),
  receivesMax: Number.MAX_SAFE_INTEGER,
});

export const isDeadLetterQueue = (queue: string): boolean => queue.endsWith(DEAD_LETTER_SUFFIX);

/** What a failure may cost a message, in time. */
const RETRY_DELAY_SECONDS = 30;
const RETRY_DELAY_SECONDS_MAX = 60;

/** For how long a message that was not done stays away, on one machine as on AWS: at first for less. */
export const getRetryDelaySeconds = (
  { visibilitySeconds }: Pick<QueueConfig, "visibilitySeconds">,
  receiveCount: number,
): number =>
  Math.min(RETRY_DELAY_SECONDS * receiveCount, RETRY_DELAY_SECONDS_MAX, visibilitySeconds);

export type Message = {
  readonly body: Json;
  readonly delaySeconds?: number;
  /** The account. Groups take turns, as in the fair queues of SQS, where this is the MessageGroupId. */
  readonly group?: string;
  /** How much of `atOnce` it takes: its rows. Absent: 1. */
  readonly weight?: number;
  /** Within a group the lowest number is handed out first: the size of the job. Absent: 0. On SQS: in any order. */
  readonly order?: number;
  /** It is handed out only while no other message is visible: work that nobody pays for. On SQS: a group's turn. */
  readonly isLowPriority?: boolean;
};

/** SQS holds a message back for 15 minutes and no longer. What waits longer is due work in the table. */
export const DELAY_SECONDS_MAX = 900;

/** Refused: surely not queued. Unknown: the reply was lost, so the message may be handled or not. */
export type SendOutcome = "sent" | "refused" | "unknown";

/** The door to later. Messages arrive at least once, in any order. Receiving is the runtime's business. */
export type Queue = {
  /** One outcome per message, in the order given. Never throws for the network's sake. */
  sendMany(queue: string, messages: readonly Message[]): Promise<readonly SendOutcome[]>;
  /** How many messages wait with the dead letters of all queues. */
  countDeadLetters(): Promise<number>;
};

/** A message in somebody's hands. The receipt is that of this hand-out: an older one opens nothing. */
export type ReceivedMessage = {
  readonly receipt: string;
  readonly body: Json;
  readonly receiveCount: number;
  /** As they were sent. Absent: the sender set none, or the queue does not tell, as SQS. */
  readonly group?: string;
  readonly weight?: number;
};

/** Ten, as with SQS. */
export const RECEIVE_MAX = 10;

export type ReceiveOptions = {
  /** In weight: messages are handed out until it is reached. At most ten in any case. */
  readonly max?: number;
  /** The weight that the receiver has in hand, by group. A group that has its share of `atOnce` is passed over. */
  readonly inFlight?: ReadonlyMap<string, number>;
  readonly waitMs: number;
  readonly signal?: AbortSignal;
};

/** The other side of a queue, for runtimes that have no event source to do it for them. */
export type QueueReceiver = {
  /** Up to ten messages, as soon as there are any; none when `waitMs` are over or the signal fires. */
  receive(queue: QueueConfig, options: ReceiveOptions): Promise<readonly ReceivedMessage[]>;
  /** The message is done for good. False: it was handed out again meanwhile, to somebody else. */
  acknowledge(receipt: string): Promise<boolean>;
  /** The message was not done; it is handed out again after a delay. */
  requeue(receipt: string, delaySeconds: number): Promise<boolean>;
};

/** SQS takes no larger message. */
const BODY_BYTES_MAX = 1_048_576;

/**
 * A group that holds as much as is free waits until it or others are done with some. So alone it has half, of two
 * that want all each has a third, and there is always as much left as the greatest has. Messages of no group, as
 * earlier releases sent them, have no share.
 */
export const createFairShares = (
  { concurrency: atOnce }: Pick<QueueConfig, "concurrency">,
  inFlight: ReadonlyMap<string, number>,
) => {
  const held = new Map(inFlight);
  let free = atOnce - [...held.values()].reduce((sum, weight) => sum + weight, 0);
  return {
    isFull: (group: string): boolean => group !== "" && (held.get(group) ?? NONE_IN_FLIGHT) >= free,
    add: (group: string, weight: number): void => {
      held.set(group, (held.get(group) ?? 0) + weight);
      free -= weight;
    },
  };
};

/** What has nothing in hand has its turn, however little is free. */
const NONE_IN_FLIGHT = Number.NEGATIVE_INFINITY;

export type FairShares = ReturnType<typeof createFairShares>;

/** The body as it travels. What SQS refuses outright is an error everywhere, and found on a laptop. */
export const serialiseMessage = ({ body, delaySeconds = 0 }: Message): string => {
  if (!(delaySeconds >= 0 && delaySeconds <= DELAY_SECONDS_MAX))
    throw new RangeError(
      `a message is delayed by 0 to ${DELAY_SECONDS_MAX} s, not ${delaySeconds}`,
    );
  const json = JSON.stringify(body);
  if (Buffer.byteLength(json) > BODY_BYTES_MAX)
    throw new RangeError(`a message is over ${BODY_BYTES_MAX} bytes`);
  return json;
};
