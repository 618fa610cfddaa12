import type { Json } from "./table.ts";

/**
 * The worker of a queue defines its name and limits. The queue delivers a message again that was not acknowledged within
 * `visibilitySeconds`, and moves it to the dead-letter queue after `receivesMax` receives.
 */
export type QueueConfig = {
  readonly name: string;
  readonly visibilitySeconds: number;
  readonly receivesMax: number;
  /** The weight of the messages that one machine handles at the same time: the rows of chunks, otherwise the number of messages. */
  readonly concurrency: number;
  /** The same limit while the event loop is late: high for messages that mostly wait for other servers. */
  readonly concurrencyWhenBusy?: number;
  /** Its messages need memory more than the thread: while there is enough, a busy thread works on as many as an idle one. */
  readonly isBoundByMemory?: boolean;
};

const DEAD_LETTER_SUFFIX = "-dead";

export const toDeadLetterQueueName = (queue: string): string => `${queue}${DEAD_LETTER_SUFFIX}`;

/** The dead-letter queue stores the messages that the workers failed to handle until a worker or the operator has handled them. */
export const toDeadLetterQueue = (queue: QueueConfig): QueueConfig => ({
  ...queue,
  name: toDeadLetterQueueName(queue.name),
  receivesMax: Number.MAX_SAFE_INTEGER,
});

export const isDeadLetterQueue = (queue: string): boolean => queue.endsWith(DEAD_LETTER_SUFFIX);

const RETRY_DELAY_SECONDS = 30;
const RETRY_DELAY_SECONDS_MAX = 60;

/** The delay before a failed message is received again grows with each receive, on one machine as on AWS. */
export const getRetryDelaySeconds = (
  { visibilitySeconds }: Pick<QueueConfig, "visibilitySeconds">,
  receiveCount: number,
): number =>
  Math.min(RETRY_DELAY_SECONDS * receiveCount, RETRY_DELAY_SECONDS_MAX, visibilitySeconds);

export type Message = {
  readonly body: Json;
  readonly delaySeconds?: number;
  /** The account. Groups take turns, as in SQS fair queues, where the group is the MessageGroupId. */
  readonly group?: string;
  /** The share of the queue's `concurrency` that the message uses: its rows. Default 1. */
  readonly weight?: number;
  /** The queue delivers the lowest order of a group first: the size of the job. Default 0. SQS ignores the order. */
  readonly order?: number;
  /** The queue delivers this unpaid work only while no other message is visible. SQS delivers it in its group's turn. */
  readonly isLowPriority?: boolean;
};

/** SQS delays a message by at most 15 minutes. Work that waits longer is scheduled in the table. */
export const DELAY_SECONDS_MAX = 900;

/** "refused": the message is certainly not queued. "unknown": the reply was lost, so a worker may receive the message or not. */
export type SendOutcome = "sent" | "refused" | "unknown";

/** The port to queues. A queue delivers each message at least once, in any order; the runtime receives them. */
export type Queue = {
  /** Returns one outcome per message, in the same order. Never throws because of the network. */
  sendMany(queue: string, messages: readonly Message[]): Promise<readonly SendOutcome[]>;
  countDeadLetters(): Promise<number>;
};

/** A message that a worker received. The receipt belongs to this receive; the queue refuses the receipt of an earlier receive. */
export type ReceivedMessage = {
  readonly receipt: string;
  readonly body: Json;
  readonly receiveCount: number;
  /** The sender's values. Absent when the sender set none, or when the queue does not return them, as SQS does not. */
  readonly group?: string;
  readonly weight?: number;
};

/** SQS returns at most ten messages per receive. */
export const RECEIVE_MAX = 10;

export type ReceiveOptions = {
  /** The receiver stops when the weights reach `max`, and at ten messages in any case. */
  readonly max?: number;
  /** The weight that the receiver handles now, by group. The queue skips a group that uses its whole share of `concurrency`. */
  readonly inFlight?: ReadonlyMap<string, number>;
  readonly waitMs: number;
  readonly signal?: AbortSignal;
};

/** For runtimes without an event source. */
export type QueueReceiver = {
  /** Returns up to ten messages as soon as one is visible; an empty list after `waitMs` or when the signal fires. */
  receive(queue: QueueConfig, options: ReceiveOptions): Promise<readonly ReceivedMessage[]>;
  /** Removes the message. False when another receiver has received it since. */
  acknowledge(receipt: string): Promise<boolean>;
  requeue(receipt: string, delaySeconds: number): Promise<boolean>;
};

/** SQS refuses a larger message. */
const BODY_BYTES_MAX = 1_048_576;

/**
 * A group whose messages in flight weigh as much as the free capacity waits until some of them end. One group alone therefore
 * uses half, and two greedy groups a third each; the free capacity always equals the largest group's share. Messages without a
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

/** The queue always serves a group with nothing in flight, even when no capacity is free. */
const NONE_IN_FLIGHT = Number.NEGATIVE_INFINITY;

export type FairShares = ReturnType<typeof createFairShares>;

/** Serializes the body. Every adapter throws for a body that SQS would refuse. */
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
