import { constants, setPriority } from "node:os";

/**
 * Lowers the priority of a process; of this thread without `pid`, on Linux. A system may refuse it, as a filter of system
 * calls does. The work is then done at the usual priority: a server never ends because of it.
 */
export const lowerPriority = (pid = 0): void => {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Refused, or the process has ended.
  }
};
