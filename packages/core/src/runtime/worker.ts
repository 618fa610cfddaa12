import { type QueueConfig, toDeadLetterQueue } from "../ports/queue.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { Need } from "./need.ts";

/**
 * Handles the messages of one queue. `handle` returns when a message is done, and throws otherwise. A message may arrive twice
 * or out of order, so handling it again must change nothing.
 */
export type Worker<W = World> = Handler<W> & {
  readonly queue: QueueConfig;
  readonly lambda: LambdaSize;
  /** Handles a dead letter. Absent when dead letters wait for the operator. */
  readonly giveUp?: Handler<W>;
};

type Handler<W> = {
  readonly needs: readonly Need[];
  readonly handle: (world: W, body: Json) => Promise<void>;
};

/** The size of a worker on AWS. Its timeout is the visibility timeout of its queue. */
type LambdaSize = {
  /** The messages of a batch share one timeout, so more than one only for messages that take milliseconds or wait side by side. */
  readonly batch: number;
  /** A limit, so that a large file takes no Lambda from a caller. All workers together use less than half of 1,000. */
  readonly concurrency: number;
  /** A worker that reads or writes whole lists gets a whole processor. */
  readonly isHeavy?: true;
};

const DEAD_LETTERS: LambdaSize = { batch: 1, concurrency: 2 };

export const toDeadLetterWorker = <W>({ queue, giveUp }: Worker<W>): Worker<W> => {
  if (!giveUp) throw new Error(`the worker of ${queue.name} does not handle dead letters`);
  return { queue: toDeadLetterQueue(queue), lambda: DEAD_LETTERS, ...giveUp };
};

export const withDeadLetterWorkers = <W>(workers: readonly Worker<W>[]): readonly Worker<W>[] => [
  ...workers,
  ...workers.filter(({ giveUp }) => giveUp).map((one) => toDeadLetterWorker(one)),
];

/** Work at regular intervals. A crash may interrupt a run anywhere; the next run continues with the rest. */
export type Schedule<W = World> = {
  readonly name: string;
  readonly everySeconds: number;
  readonly run: (world: W) => Promise<void>;
};
