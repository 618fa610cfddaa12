import type { World } from "./world.ts";

const NOTHING = (): void => {};
const UNDAMAGED: ReadonlySet<string> = new Set();

/**
 * For a process with one request at a time and managed storage: it is never short of anything, it ends between two
 * requests, no request waits for another, and storage checks itself.
 */
export const ONE_REQUEST: Pick<World, "pressure" | "stopping" | "callers" | "damagedParts"> = {
  pressure: () => null,
  stopping: new AbortController().signal,
  callers: { enter: () => NOTHING, yieldToCallers: () => undefined },
  damagedParts: () => UNDAMAGED,
};
