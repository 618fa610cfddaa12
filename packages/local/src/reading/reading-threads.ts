import type { Worker } from "node:worker_threads";
import {
  createTooCostlyFault,
  type ReaderName,
  type RunReader,
} from "@mailproof/core/deliverability/reading";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import { createBudget, type Hold } from "@mailproof/core/lib/budget";
import { Failure } from "@mailproof/core/lib/failure";
import { MINUTE_MS } from "@mailproof/core/lib/time";
import type { World } from "@mailproof/core/ports/world";
import { createAccountSlots } from "@mailproof/core/runtime/account-slots";
import { type Calls, createCalls, ENDED } from "../engine-threads/calls.ts";
import { startThread } from "../installation.ts";
import { getMessage } from "../storage/sqlite.ts";
import type { ReadingHandlers } from "./reading-thread.ts";

export const READING_LIMITS = {
  /** Together with the server's thread this is one more than the smallest machine has cores: reading threads have a lower priority. */
  threads: 2,
  /** The largest report takes two seconds on a quiet machine. */
  readMs: 20_000,
  /** The processor time of one account. A thread that was ended counts with its whole limit. */
  shareMsPerMinute: 40_000,
  heapMegabytes: 128,
  /** An idle thread collects no garbage, so it ends, which frees its memory. */
  idleMs: 10_000,
};

export type ReadingThreads = { readonly run: RunReader; readonly close: () => void };

type Reader = {
  readonly worker: Worker;
  readonly calls: Calls<ReadingHandlers>;
  /** Returns why the thread ended, unless its input was the reason. */
  readonly getOwnFault: () => Error | undefined;
};

type StartThread = (maxOldGenerationSizeMb: number) => Worker;

const startReading: StartThread = (maxOldGenerationSizeMb) =>
  startThread(new URL("./reading-thread.ts", import.meta.url), undefined, {
    maxOldGenerationSizeMb,
  });

/**
 * Reads in threads, one input of an account at a time. Accounts take turns. A thread that takes too much time or memory is ended, and its
 * input is refused.
 */
export const createReadingThreads = (
  { now, log }: Pick<World, "now" | "log">,
  limits: typeof READING_LIMITS = READING_LIMITS,
  startWorker: StartThread = startReading,
): ReadingThreads => {
  const { threads, readMs } = limits;
  const slots = createAccountSlots({ inAll: threads, perShare: 1 });
  const time = createBudget(
    { inAll: threads * MINUTE_MS, perShare: limits.shareMsPerMinute, refillMs: MINUTE_MS },
    now,
  );
  const idle = new Map<Reader, NodeJS.Timeout>();

  const keep = (reader: Reader): void => {
    const end = (): void => {
      idle.delete(reader);
      void reader.worker.terminate();
    };
    idle.set(reader, setTimeout(end, limits.idleMs).unref());
  };
  const takeIdle = (): Reader | undefined => {
    const [[reader, timer] = []] = idle;
    clearTimeout(timer);
    if (reader) idle.delete(reader);
    return reader;
  };

  const start = (): Reader => {
    const worker = startWorker(limits.heapMegabytes);
    let ownFault: Error | undefined;
    // The threads must not keep the server's process alive.
    worker.unref();
    const calls = createCalls<ReadingHandlers>(worker);
    worker.on("error", (error: NodeJS.ErrnoException) => {
      log("reading_thread_failed", { error: getMessage(error) });
      if (error.code !== "ERR_WORKER_OUT_OF_MEMORY") ownFault = error;
    });
    worker.on("exit", calls.end);
    return { worker, calls, getOwnFault: () => ownFault };
  };
  const read = async (cost: Hold, name: ReaderName, args: readonly unknown[]): Promise<unknown> => {
    const reader = takeIdle() ?? start();
    const timer = setTimeout(() => void reader.worker.terminate(), readMs);
    const reply = await reader.calls
      .call("read", name, args as readonly never[])
      .finally(() => clearTimeout(timer));
    if (reply === ENDED) throw reader.getOwnFault() ?? createTooCostlyFault(name);
    cost.more(Math.min(readMs, reply.cpuMs) - readMs);
    keep(reader);
    if ("value" in reply) return reply.value;
    const { path, what, isTooLarge } = reply.fault;
    throw new ReportFault(path, what, { isTooLarge });
  };

  const run = (who: string, name: ReaderName, ...args: readonly unknown[]) =>
    slots.run(who, async () => {
      const cost = time.take(who, readMs);
      if (!cost) throw createBusyFailure();
      return read(cost, name, args);
    });
  return {
    run: run as RunReader,
    close: () => {
      for (const { worker } of idle.keys()) void worker.terminate();
    },
  };
};

const createBusyFailure = () =>
  new Failure(
    "RATE_LIMITED",
    "nothing_charged",
    "The reports and mails of this account took too much time to read in this minute.",
    { retryAfterMs: MINUTE_MS },
  );
