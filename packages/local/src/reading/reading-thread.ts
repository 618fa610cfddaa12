import { parentPort } from "node:worker_threads";
import { type ReaderName, readHere } from "@mailproof/core/deliverability/reading";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import { createCalls } from "../engine-threads/calls.ts";
import { lowerPriority } from "../lower-priority.ts";

/** A message between threads loses an error's own fields. */
type Read =
  | { readonly value: unknown }
  | { readonly fault: Pick<ReportFault, "path" | "what" | "isTooLarge"> };

const read = async (name: ReaderName, args: readonly never[]): Promise<Read> => {
  try {
    return { value: await readHere("", name, ...(args as unknown as Parameters<never>)) };
  } catch (error) {
    if (!(error instanceof ReportFault)) throw error;
    const { path, what, isTooLarge } = error;
    return { fault: { path, what, isTooLarge } };
  }
};

const handlers = {
  /** `cpuMs`: by the clock, a busy machine would count against the account. */
  read: async (name: ReaderName, args: readonly never[]) => {
    const before = process.threadCpuUsage();
    const result = await read(name, args);
    const { user, system } = process.threadCpuUsage(before);
    return { ...result, cpuMs: (user + system) / 1_000 };
  },
};

export type ReadingHandlers = typeof handlers;

if (parentPort) {
  // Only Linux has a priority for each thread: elsewhere this would lower the server's.
  if (process.platform === "linux") lowerPriority();
  createCalls(parentPort).serve(handlers);
}
