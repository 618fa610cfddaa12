import { constants, setPriority } from "node:os";

/**
 * Lowers the priority of a process; without `pid` that of this thread, on Linux. A system may refuse, as a filter of system calls does. The
 * work then keeps the usual priority: a server never ends because of it.
 */
export const lowerPriority = (pid = 0): void => {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The system refused, or the process has ended.
  }
};
