import type { World } from "../ports/world.ts";

/** What came of it in time, or "late". It is not stopped: whoever needs that gives it a signal of its own. */
export const withTimeout = async <T>(
  { sleep }: Pick<World, "sleep">,
  ms: number,
  work: Promise<T>,
): Promise<T | "late"> => {
  const finished = new AbortController();
  const timeout = sleep(ms, finished.signal).then(() => "late" as const);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    finished.abort();
  }
};
