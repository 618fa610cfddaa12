import { type QueueConfig, toDeadLetterQueue } from "../ports/queue.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { Need } from "./need.ts";

/**
 * Handles the messages of one queue. `handle` returns when a message is done and throws when it is not. A message may
 * arrive twice, or after a later one: handling it again must change nothing.
 */
export type Worker<W = World> = Handler<W> & {
  readonly queue: QueueConfig;
  readonly lambda: LambdaSize;
  /** Handles a dead letter. Without it the dead letter waits for the operator. */
  readonly giveUp?: Handler<W>;
};

type Handler<W> = {
  readonly needs: readonly Need[];
  readonly handle: (world: W, body: Json) => Promise<void>;
};

/** How a worker runs on AWS. Its timeout is the visibility timeout of its queue. */
type LambdaSize = {
  /** More than one only for messages that take milliseconds or wait side by side, since a batch shares one timeout. */
  readonly batch: number;
  /** A limit, so that a large file takes no Lambda from a caller. All workers together take the smaller part of 1,000. */
  readonly concurrency: number;
  /** Reads or writes whole lists: it gets a whole processor. */
  readonly isHeavy?: true;
};

const DEAD_LETTERS: LambdaSize = { batch: 1, concurrency: 2 };

/** The worker of its dead letters. */
export const toDeadLetterWorker = <W>({ queue, giveUp }: Worker<W>): Worker<W> => {
  if (!giveUp) throw new Error(`the worker of ${queue.name} does not handle dead letters`);
  return { queue: toDeadLetterQueue(queue), lambda: DEAD_LETTERS, ...giveUp };
};

/** The same workers, and a dead-letter worker for each that has `giveUp`. */
export const withDeadLetterWorkers = <W>(workers: readonly Worker<W>[]): readonly Worker<W>[] => [
  ...workers,
  ...workers.filter(({ giveUp }) => giveUp).map((one) => toDeadLetterWorker(one)),
];

/** Work at regular intervals. A run may be interrupted anywhere; the next one finds what is left. */
export type Schedule<W = World> = {
  readonly name: string;
  readonly everySeconds: number;
  readonly run: (world: W) => Promise<void>;
};
