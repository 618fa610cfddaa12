import { constants, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import { type ReaderName, readHere } from "@mailproof/core/deliverability/reading";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import { createCalls } from "../engine-threads/calls.ts";

// Reads mail and reports, one at a time, for the thread that serves.

/** No message carries an error's own fields. */
type Reply =
  | { readonly value: unknown }
  | { readonly fault: Pick<ReportFault, "path" | "what" | "isTooLarge"> };

const handlers = {
  read: async (name: ReaderName, args: readonly never[]): Promise<Reply> => {
    try {
      return { value: await readHere("", name, ...(args as unknown as Parameters<never>)) };
    } catch (error) {
      if (!(error instanceof ReportFault)) throw error;
      const { path, what, isTooLarge } = error;
      return { fault: { path, what, isTooLarge } };
    }
  },
};

export type ReadingHandlers = typeof handlers;

if (parentPort) {
  // Only Linux has a priority for each thread: elsewhere it would be the server's.
  if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  createCalls(parentPort).serve(handlers);
}
