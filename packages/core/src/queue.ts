import type { Json } from "./table.ts";

/**
 * A queue is named and described by the worker that reads it.
 * A message that is not done within `visibilitySeconds` is handed out again; after `receivesMax` hand-outs
 * it goes to the queue of the dead letters.
 */
export type QueueFacts = {
  readonly name: string;
  readonly visibilitySeconds: number;
  readonly receivesMax: number;
  /** What one machine has in hand at the same time, in the weight of the messages: rows of chunks, else messages. */
  readonly atOnce: number;
  /** Of that, how much also while its thread has much to do: much, where all they do is wait for others. */
  readonly evenWhenBusy?: number;
};

const DEAD = "-dead";

export const deadLettersNamed = (queue: string): string => `${queue}${DEAD}`;

/** Where the messages of a queue go that nobody could handle. From there they go nowhere but to be done. */
export const deadLettersOf = (queue: QueueFacts): QueueFacts => ({
  ...queue,
  name: deadLettersNamed(queue.name),
  receivesMax: Number.MAX_SAFE_INTEGER,
});

export const isOfDeadLetters = (queue: string): boolean => queue.endsWith(DEAD);

/** What a failure may cost a message, in time. */
const AWAY_SECONDS = 30;
const AWAY_SECONDS_MAX = 60;

/** For how long a message that was not done stays away, on one machine as on AWS: at first for less. */
export const awaySecondsOf = (
  { visibilitySeconds }: Pick<QueueFacts, "visibilitySeconds">,
  receiveCount: number,
): number => Math.min(AWAY_SECONDS * receiveCount, AWAY_SECONDS_MAX, visibilitySeconds);

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
  readonly isLast?: boolean;
};

/** SQS holds a message back for 15 minutes and no longer. What waits longer is due work in the table. */
export const DELAY_SECONDS_MAX = 900;

/** Refused: surely not queued. Unknown: the reply was lost, so the message may be handled or not. */
export type Sent = "sent" | "refused" | "unknown";

/** The door to later. Messages arrive at least once, in any order. Receiving is the runtime's business. */
export type Queue = {
  /** One outcome per message, in the order given. Never throws for the network's sake. */
  sendMany(queue: string, messages: readonly Message[]): Promise<readonly Sent[]>;
  /** How many messages wait with the dead letters of all queues. */
  countDead(): Promise<number>;
};

/** A message in somebody's hands. The receipt is that of this hand-out: an older one opens nothing. */
export type Received = {
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
  readonly inHand?: ReadonlyMap<string, number>;
  readonly waitMs: number;
  readonly signal?: AbortSignal;
};

/** The other side of a queue, for runtimes that have no event source to do it for them. */
export type Receiving = {
  /** Up to ten messages, as soon as there are any; none when `waitMs` are over or the signal fires. */
  receive(queue: QueueFacts, options: ReceiveOptions): Promise<readonly Received[]>;
  /** The message is done for good. False: it was handed out again meanwhile, to somebody else. */
  done(receipt: string): Promise<boolean>;
  /** The message was not done; it is handed out again after a delay. */
  release(receipt: string, delaySeconds: number): Promise<boolean>;
};

/** SQS takes no larger message. */
const BODY_BYTES_MAX = 1_048_576;

/**
 * A group that holds as much as is free waits until it or others are done with some. So alone it has half, of two
 * that want all each has a third, and there is always as much left as the greatest has. Messages of no group, as
 * earlier releases sent them, have no share.
 */
export const sharesOf = (
  { atOnce }: Pick<QueueFacts, "atOnce">,
  inHand: ReadonlyMap<string, number>,
) => {
  const held = new Map(inHand);
  let free = atOnce - [...held.values()].reduce((sum, weight) => sum + weight, 0);
  return {
    isFull: (group: string): boolean => group !== "" && (held.get(group) ?? NOTHING) >= free,
    take: (group: string, weight: number): void => {
      held.set(group, (held.get(group) ?? 0) + weight);
      free -= weight;
    },
  };
};

/** What has nothing in hand has its turn, however little is free. */
const NOTHING = Number.NEGATIVE_INFINITY;

export type Shares = ReturnType<typeof sharesOf>;

/** The body as it travels. What SQS refuses outright is an error everywhere, and found on a laptop. */
export const travelForm = ({ body, delaySeconds = 0 }: Message): string => {
  if (!(delaySeconds >= 0 && delaySeconds <= DELAY_SECONDS_MAX))
    throw new RangeError(
      `a message is delayed by 0 to ${DELAY_SECONDS_MAX} s, not ${delaySeconds}`,
    );
  const json = JSON.stringify(body);
  if (Buffer.byteLength(json) > BODY_BYTES_MAX)
    throw new RangeError(`a message is over ${BODY_BYTES_MAX} bytes`);
  return json;
};
