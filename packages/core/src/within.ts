import type { World } from "./world.ts";

/** What came of it in time, or "late". It is not stopped: whoever needs that gives it a signal of its own. */
export const within = async <T>(
  { sleep }: Pick<World, "sleep">,
  ms: number,
  work: Promise<T>,
): Promise<T | "late"> => {
  const done = new AbortController();
  const late = sleep(ms, done.signal).then(() => "late" as const);
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
};
