import type { World } from "../ports/world.ts";
import type { Verification } from "../verify/result.ts";

// Verifications that go on after the pass that began them. The next pass of the chunk, in the same process, waits for
// them and asks nothing again; in another process, which knows none of them, the rows are verified anew.

type SlowRow = { readonly verification: Promise<Verification>; readonly since: number };

const rowsByStore = new WeakMap<World["blobs"], Map<string, SlowRow>>();

const getSlowRows = ({ blobs }: Pick<World, "blobs">): Map<string, SlowRow> => {
  const rows = rowsByStore.get(blobs) ?? new Map<string, SlowRow>();
  rowsByStore.set(blobs, rows);
  return rows;
};

/** Longer than a pass takes: a row that nobody has come for by then belongs to a job that went on elsewhere. */
const FORGET_AFTER_MS = 30 * 60_000;

export const storeSlowRow = (
  world: Pick<World, "blobs" | "now">,
  key: string,
  verification: Promise<Verification>,
): void => {
  const rows = getSlowRows(world);
  const now = world.now().getTime();
  for (const [other, { since }] of rows) {
    if (now - since < FORGET_AFTER_MS) break;
    rows.delete(other);
  }
  // Until a pass waits for it, nobody would hear that it failed.
  verification.catch(() => undefined);
  rows.delete(key);
  rows.set(key, { verification, since: now });
};

/** Undefined: this process is not verifying the row. It stays until it has ended: a message may come twice. */
export const findSlowRow = (
  world: Pick<World, "blobs">,
  key: string,
): Promise<Verification> | undefined => getSlowRows(world).get(key)?.verification;

export const removeSlowRow = (world: Pick<World, "blobs">, key: string): void =>
  void getSlowRows(world).delete(key);
