import type { World } from "../ports/world.ts";

/** The result of the work, or "late". The work is not cancelled: a caller that wants that passes it a signal. */
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
    // Without a reason it would make an error with a stack.
    finished.abort("finished");
  }
};
