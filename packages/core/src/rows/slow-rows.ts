import type { World } from "../ports/world.ts";
import type { Verification } from "../verify/result.ts";

// Verifications that outlast the pass that started them. The next pass over the chunk waits for them, if it runs in the
// same process, and asks no server again. Another process lacks these verifications and verifies the rows again.

/** `since`: when the verification began (ms). */
type SlowRow = { readonly verification: Promise<Verification>; readonly since: number };

const rowsByStore = new WeakMap<World["blobs"], Map<string, SlowRow>>();

/** An entry stays until its verification ends, since a message may arrive twice. */
export const getSlowRows = ({ blobs }: Pick<World, "blobs">): Map<string, SlowRow> => {
  const rows = rowsByStore.get(blobs) ?? new Map<string, SlowRow>();
  rowsByStore.set(blobs, rows);
  return rows;
};

/** Longer than a pass takes: a row that is still here by then belongs to a job that another process continued. */
const FORGET_AFTER_MS = 30 * 60_000;

export const storeSlowRow = (
  world: Pick<World, "blobs" | "now">,
  key: string,
  slow: SlowRow,
): void => {
  const rows = getSlowRows(world);
  const now = world.now().getTime();
  for (const [other, { since }] of rows) {
    if (now - since < FORGET_AFTER_MS) break;
    rows.delete(other);
  }
  // A failure before the next pass must not count as an unhandled rejection.
  slow.verification.catch(() => undefined);
  rows.delete(key);
  rows.set(key, slow);
};
