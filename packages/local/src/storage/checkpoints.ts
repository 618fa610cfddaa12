import type { Worker } from "node:worker_threads";
import { startThread } from "../installation.ts";

// A checkpoint copies SQLite's log into the database. Inside COMMIT it blocks the event loop for as long as the disk takes,
// which is hundreds of milliseconds for a database larger than the system's cache. So a thread does it. It never keeps a
// transaction from reading or writing; but the log starts again only when a checkpoint has copied all of it, and while
// transactions go on some of it always remains. So when the log is long, the writers wait for one further checkpoint, which
// copies only what remains. Reads never wait.

const EVERY_MS = 1_000;
/** 16 MB. A shorter log is not worth a pause of the writers. */
const LOG_PAGES_MAX = 4_000;

/** Copies the present pages of the log. Resolves with the number of pages in the log. */
export type Checkpoint = (file: string) => Promise<number>;

export type CheckpointRequest = { readonly id: number; readonly file: string };
export type CheckpointReply = { readonly id: number; readonly pages: number };

/** A function that runs after each group of transactions and calls `resume` when the next group may begin. */
export type AfterGroup = (resume: () => void) => void;

export const createCheckpoints = (
  file: string,
  checkpoint: Checkpoint,
  nowMs: () => number = () => performance.now(),
): AfterGroup => {
  let isUnderWay = false;
  let isLogLong = false;
  let nextAtMs = nowMs() + EVERY_MS;

  return (resume) => {
    if (isLogLong) {
      isLogLong = false;
      void checkpoint(file).then(() => resume());
      return;
    }
    if (!isUnderWay && nowMs() >= nextAtMs) {
      isUnderWay = true;
      void checkpoint(file).then((pages) => {
        isUnderWay = false;
        isLogLong = pages >= LOG_PAGES_MAX;
        nextAtMs = nowMs() + EVERY_MS;
      });
    }
    resume();
  };
};

/** One thread for all databases of the process. The first checkpoint starts the thread; an idle thread keeps no process alive. */
export const checkpointInThread: Checkpoint = (file) => {
  thread ??= startCheckpointThread();
  return thread(file);
};

let thread: Checkpoint | undefined;

const startCheckpointThread = (): Checkpoint => {
  const worker: Worker = startThread(new URL("./checkpoint-worker.ts", import.meta.url), undefined);
  const pending = new Map<number, (pages: number) => void>();
  let lastId = 0;
  worker.on("message", ({ id, pages }: CheckpointReply) => {
    pending.get(id)?.(pages);
    pending.delete(id);
    if (pending.size === 0) worker.unref();
  });
  return (file) =>
    new Promise((resolve) => {
      const id = ++lastId;
      pending.set(id, resolve);
      // A process that waits for a checkpoint does not end before the checkpoint.
      worker.ref();
      worker.postMessage({ id, file } satisfies CheckpointRequest);
    });
};
