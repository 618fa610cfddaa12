import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";
import type { CheckpointReply, CheckpointRequest } from "./checkpoints.ts";

/** Returns the number of pages in the log after copying its current pages into the database. */
const checkpoint = (file: string): number => {
  // The mode keeps SQLite from creating a deleted file again.
  const db = new DatabaseSync(new URL(`${pathToFileURL(file).href}?mode=rw`));
  try {
    return Number(db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get()?.["log"]);
  } finally {
    db.close();
  }
};

parentPort?.on("message", ({ id, file }: CheckpointRequest) => {
  let pages = 0;
  try {
    pages = checkpoint(file);
  } catch {
    // The log keeps all commits, and the next checkpoint copies them. Reads and writes detect damage.
  }
  parentPort?.postMessage({ id, pages } satisfies CheckpointReply);
});
