import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** The next message of a process. One that ends instead is an error, not a bench that waits forever. */
export const receiveMessage = async <T>(child: ChildProcess): Promise<T> => {
  const stop = new AbortController();
  const ended = once(child, "exit", stop).then(([code]) => {
    throw new Error(`A process of the bench ended early, with code ${code}.`);
  });
  try {
    const [message] = (await Promise.race([once(child, "message", stop), ended])) as [T];
    return message;
  } finally {
    ended.catch(() => undefined);
    stop.abort();
  }
};
