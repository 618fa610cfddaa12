/**
 * The errors of a machine that lacks a resource: descriptors (of the process, of the system), buffers, memory, local
 * ports. None of them is evidence about the host that we wanted to reach.
 */
const OWN_ERRORS: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
  "EADDRNOTAVAIL",
]);

let count = 0;

/** How often this process has lacked a resource since it started. */
export const countOwnErrors = (): number => count;

/** Those of another thread of this process. */
export const addOwnErrors = (times: number): void => {
  count += times;
};

/** Whether an error, or one of its causes, is that of a machine that lacks a resource. */
export const isOwnError = (error: unknown): boolean => {
  const isOwn = hasOwnCode(error);
  if (isOwn) count++;
  return isOwn;
};

const DEPTH_MAX = 4;

const hasOwnCode = (error: unknown, depth = 0): boolean => {
  if (!(error instanceof Error) || depth > DEPTH_MAX) return false;
  if (OWN_ERRORS.has((error as NodeJS.ErrnoException).code ?? "")) return true;
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [error.cause];
  return parts.some((part) => hasOwnCode(part, depth + 1));
};
