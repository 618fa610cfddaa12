import type { Log } from "@mailproof/core/ports/world";

/**
 * Lambda logs a thrown error with its stack and returns it to the caller. So the cause goes into our own log, which is
 * cleaned, and the error that is thrown names only the log entry.
 */
export const withErrorBoundary = async <T>(
  log: Log,
  event: string,
  fields: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    log(event, { ...fields, cause });
    throw new Error(`${event}: see the log entry of this name.`);
  }
};
