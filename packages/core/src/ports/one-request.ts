import type { World } from "./world.ts";

const NOTHING = (): void => {};
const UNDAMAGED: ReadonlySet<string> = new Set();

/**
 * For a process with one request at a time and managed storage, such as a Lambda: it has no pressure, stops only between
 * requests, makes no request wait for another, and its storage checks itself.
 */
export const ONE_REQUEST: Pick<
  World,
  "pressure" | "stopping" | "callers" | "damagedParts" | "freeBytes"
> = {
  pressure: () => null,
  stopping: new AbortController().signal,
  callers: { enter: () => NOTHING, yieldToCallers: () => undefined },
  damagedParts: () => UNDAMAGED,
  freeBytes: () => null,
};
