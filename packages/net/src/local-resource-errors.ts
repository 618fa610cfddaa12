/**
 * Errors of a machine that lacks a resource: descriptors (of the process or the system), buffers, memory, local ports. Such an error proves
 * nothing about the remote host.
 */
const OWN_ERRORS: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "ENOBUFS",
  "ENOMEM",
  "EADDRNOTAVAIL",
]);

let count = 0;

export const countOwnErrors = (): number => count;

export const addOwnErrors = (times: number): void => {
  count += times;
};

/** Tells whether an error, or one of its causes, means that this machine lacks a resource. */
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
