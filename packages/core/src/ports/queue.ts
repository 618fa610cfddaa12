import type { Json } from "./table.ts";

/**
 * The worker that reads a queue defines its name and limits. A message that is not acknowledged within
 * `visibilitySeconds` is received again; after `receivesMax` receives it moves to the dead-letter queue.
 */
export type QueueConfig = {
  readonly name: string;
  readonly visibilitySeconds: number;
  readonly receivesMax: number;
  /** How much one machine works on at the same time, in the weight of the messages: rows of chunks, else messages. */
  readonly concurrency: number;
  /** How much of that while the thread is busy: much for messages that mostly wait for other servers. */
  readonly concurrencyWhenBusy?: number;
};

const DEAD_LETTER_SUFFIX = "-dead";

export const toDeadLetterQueueName = (queue: string): string => `${queue}${DEAD_LETTER_SUFFIX}`;

/**
 * The dead-letter queue: it takes the messages that the workers failed to handle, and holds them until they are done.
 */
export const toDeadLetterQueue = (queue: QueueConfig): QueueConfig => ({
  ...queue,
  name: toDeadLetterQueueName(queue.name),
  receivesMax: Number.MAX_SAFE_INTEGER,
});

export const isDeadLetterQueue = (queue: string): boolean => queue.endsWith(DEAD_LETTER_SUFFIX);

/** The delay before a failed message is received again. */
const RETRY_DELAY_SECONDS = 30;
const RETRY_DELAY_SECONDS_MAX = 60;

/** The delay grows with each receive, on one machine as on AWS. */
export const getRetryDelaySeconds = (
  { visibilitySeconds }: Pick<QueueConfig, "visibilitySeconds">,
  receiveCount: number,
): number =>
  Math.min(RETRY_DELAY_SECONDS * receiveCount, RETRY_DELAY_SECONDS_MAX, visibilitySeconds);

export type Message = {
  readonly body: Json;
  readonly delaySeconds?: number;
  /** The account. Groups take turns, as in SQS fair queues, where this is the MessageGroupId. */
  readonly group?: string;
  /** How much of the queue's `concurrency` it takes: its rows. Absent: 1. */
  readonly weight?: number;
  /** Within a group the lowest number is received first: the size of the job. Absent: 0. On SQS: in any order. */
  readonly order?: number;
  /** Received only while no other message is visible: unpaid work. On SQS the message takes its group's turn. */
  readonly isLowPriority?: boolean;
};

/** SQS delays a message by 15 minutes at most. Work that waits longer is scheduled in the table. */
export const DELAY_SECONDS_MAX = 900;

/** Refused: surely not queued. Unknown: the reply was lost, so the message may be handled or not. */
export type SendOutcome = "sent" | "refused" | "unknown";

/** The port to queues. Messages arrive at least once, in any order. The runtime receives them. */
export type Queue = {
  /** One outcome per message, in the same order. Never throws because of the network. */
  sendMany(queue: string, messages: readonly Message[]): Promise<readonly SendOutcome[]>;
  /** How many messages wait in the dead-letter queues. */
  countDeadLetters(): Promise<number>;
};

/** A message that a worker received. The receipt belongs to this receive: an older one is no longer accepted. */
export type ReceivedMessage = {
  readonly receipt: string;
  readonly body: Json;
  readonly receiveCount: number;
  /** As they were sent. Absent: the sender set none, or the queue does not return it, such as SQS. */
  readonly group?: string;
  readonly weight?: number;
};

/** Ten, as with SQS. */
export const RECEIVE_MAX = 10;

export type ReceiveOptions = {
  /** In weight: messages are received until it is reached. At most ten in any case. */
  readonly max?: number;
  /** The weight that the receiver works on, by group. A group that has its share of `concurrency` is skipped. */
  readonly inFlight?: ReadonlyMap<string, number>;
  readonly waitMs: number;
  readonly signal?: AbortSignal;
};

/** The receiving side of a queue, for runtimes without an event source. */
export type QueueReceiver = {
  /** Up to ten messages, as soon as there are any; none after `waitMs` or when the signal fires. */
  receive(queue: QueueConfig, options: ReceiveOptions): Promise<readonly ReceivedMessage[]>;
  /** Removes the message. False: another receiver has it by now. */
  acknowledge(receipt: string): Promise<boolean>;
  /** Returns the message to the queue; it is received again after a delay. */
  requeue(receipt: string, delaySeconds: number): Promise<boolean>;
};

/** SQS takes no larger message. */
const BODY_BYTES_MAX = 1_048_576;

/**
 * A group that holds as much as is free waits until some messages are done. So one group alone has half, two groups
 * that want everything have a third each, and as much is always free as the largest group holds. Messages without a
 * group have no share.
 */
export const createFairShares = (
  { concurrency }: Pick<QueueConfig, "concurrency">,
  inFlight: ReadonlyMap<string, number>,
) => {
  const held = new Map(inFlight);
  let free = concurrency - [...held.values()].reduce((sum, weight) => sum + weight, 0);
  return {
    isFull: (group: string): boolean => group !== "" && (held.get(group) ?? NONE_IN_FLIGHT) >= free,
    add: (group: string, weight: number): void => {
      held.set(group, (held.get(group) ?? 0) + weight);
      free -= weight;
    },
  };
};

/** A group that has nothing in flight is always served, however little is free. */
const NONE_IN_FLIGHT = Number.NEGATIVE_INFINITY;

export type FairShares = ReturnType<typeof createFairShares>;

/** The body as it is sent. A body that SQS would refuse is an error in every adapter. */
export const serializeMessage = ({ body, delaySeconds = 0 }: Message): string => {
  if (!(delaySeconds >= 0 && delaySeconds <= DELAY_SECONDS_MAX))
    throw new RangeError(
      `a message is delayed by 0 to ${DELAY_SECONDS_MAX} s, not ${delaySeconds}`,
    );
  const json = JSON.stringify(body);
  if (Buffer.byteLength(json) > BODY_BYTES_MAX)
    throw new RangeError(`a message is over ${BODY_BYTES_MAX} bytes`);
  return json;
};
