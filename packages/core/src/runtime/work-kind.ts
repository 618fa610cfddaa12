import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

export type WorkKind<W = World> = {
  readonly kind: string;
  /** Finishes overdue work, after a crash or when its time has come. The reconciler logs and counts the result. */
  readonly repair: (world: W, item: Item) => Promise<string>;
  /**
   * The longest time ahead for which this work is ever scheduled. A later time comes from a wrong clock: the reconciler repairs
   * such work at once, because otherwise it would wait until the clock reaches that time again.
   */
  readonly longestWaitMs: number;
  /** Reads the time until which the item was deferred. Absent for work that is never deferred, which is overdue only after a crash. */
  readonly deferredUntil?: (item: Item) => unknown;
};
