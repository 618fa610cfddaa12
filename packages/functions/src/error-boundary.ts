import type { Log } from "@mailproof/core/ports/world";

/**
 * Lambda writes whatever a handler throws into its log as it is, stack and all, and hands it to whoever called. So what
 * broke is told by our own log, which is cleaned, and what is thrown says no more than that something did.
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
    throw new Error(`${event}: the log has it under this name.`);
  }
};
