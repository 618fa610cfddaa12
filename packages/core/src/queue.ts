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
  /** So many of its messages one machine has in hand at the same time. */
  readonly atOnce: number;
  /** Of those, how many also while its thread has much to do: many, where all they do is wait for others. */
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

export type Message = { readonly body: Json; readonly delaySeconds?: number };

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
};

/** Ten, as with SQS. */
export const RECEIVE_MAX = 10;

/** The other side of a queue, for runtimes that have no event source to do it for them. */
export type Receiving = {
  /** Up to ten messages, as soon as there are any; none when `waitMs` are over or the signal fires. */
  receive(
    queue: QueueFacts,
    options: { readonly max?: number; readonly waitMs: number; readonly signal?: AbortSignal },
  ): Promise<readonly Received[]>;
  /** The message is done for good. False: it was handed out again meanwhile, to somebody else. */
  done(receipt: string): Promise<boolean>;
  /** The message was not done; it is handed out again after a delay. */
  release(receipt: string, delaySeconds: number): Promise<boolean>;
};

/** SQS takes no larger message. */
const BODY_BYTES_MAX = 1_048_576;

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
