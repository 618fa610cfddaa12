import type { Item } from "../ports/table.ts";
import type { World } from "../ports/world.ts";

/** A kind of scheduled work (leases.ts): what the reconciler knows of it. */
export type WorkKind<W = World> = {
  readonly kind: string;
  /** For work that is overdue, after a crash or when its time has come. The result is logged and counted. */
  readonly repair: (world: W, item: Item) => Promise<string>;
  /**
   * How far ahead it is scheduled at most. Work that is scheduled later was written by a wrong clock and is repaired at
   * once: after the clock was set back, it would otherwise wait until the clock reaches that time again.
   */
  readonly longestWaitMs: number;
  /** The time that the item stores where it was deferred. Absent: it never is, and overdue work was left by a crash. */
  readonly deferredUntil?: (item: Item) => unknown;
};
