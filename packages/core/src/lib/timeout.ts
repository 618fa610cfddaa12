import type { World } from "../ports/world.ts";

/**
 * Returns the result of the work, or "late" after `ms` or as soon as `until` fires. The work continues: to cancel it, the
 * caller passes it a signal.
 */
export const withTimeout = async <T>(
  { sleep }: Pick<World, "sleep">,
  ms: number,
  work: Promise<T>,
  until?: AbortSignal,
): Promise<T | "late"> => {
  const ended = new AbortController();
  // An abort without a reason would create an error with a stack.
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

/** The caller needs this time to receive a result before its wait ends. */
const RESPONSE_MS = 250;

export const getRemainingWaitMs = (
  { now }: Pick<World, "now">,
  startedAtMs: number,
  waitMs: number,
): number => Math.max(0, waitMs - RESPONSE_MS - (now().getTime() - startedAtMs));
