import type { World } from "../ports/world.ts";

/**
 * The result of the work, or "late". It is late at once when `until` fires. The work is not
 * cancelled: a caller that wants that passes it a signal.
 */
export const withTimeout = async <T>(
  { sleep }: Pick<World, "sleep">,
  ms: number,
  work: Promise<T>,
  until?: AbortSignal,
): Promise<T | "late"> => {
  const ended = new AbortController();
  // Without a reason it would make an error with a stack.
  const end = () => ended.abort("finished");
  until?.addEventListener("abort", end);
  if (until?.aborted) end();
  const timeout = sleep(ms, ended.signal).then(() => "late" as const);
  try {
    return await Promise.race([work, timeout]);
  } finally {
    until?.removeEventListener("abort", end);
    end();
  }
};
