import { type QueueConfig, toDeadLetterQueue } from "../ports/queue.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

/**
 * What is done with the messages of one queue. It returns when a message is done and throws when it is not.
 * A message may come twice, or after a later one: handling it again must change nothing.
 */
export type Worker<W = World> = {
  readonly queue: QueueConfig;
  readonly handle: (world: W, body: Json) => Promise<void>;
  /** What is done with a message that nobody could handle, however often. Without it a person has to look. */
  readonly giveUp?: (world: W, body: Json) => Promise<void>;
};

/** The worker of its dead letters. */
export const toDeadLetterWorker = <W>({ queue, giveUp }: Worker<W>): Worker<W> => {
  if (!giveUp) throw new Error(`nobody knows what to do with the dead letters of ${queue.name}`);
  return { queue: toDeadLetterQueue(queue), handle: giveUp };
};

/** The same workers, and one for the dead letters of each that knows what to do with them. */
export const withDeadLetterWorkers = <W>(workers: readonly Worker<W>[]): readonly Worker<W>[] => [
  ...workers,
  ...workers.filter(({ giveUp }) => giveUp).map((one) => toDeadLetterWorker(one)),
];

/** What is done again and again. A run may be cut off anywhere; the next one finds what is left. */
export type Schedule<W = World> = {
  readonly name: string;
  readonly everySeconds: number;
  readonly run: (world: W) => Promise<void>;
};
