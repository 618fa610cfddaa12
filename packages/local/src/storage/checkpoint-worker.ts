import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { parentPort } from "node:worker_threads";
import type { CheckpointReply, CheckpointRequest } from "./checkpoints.ts";

/** How many pages the log holds when its pages up to now are in the database. */
const checkpoint = (file: string): number => {
  // A file that is gone is not created again.
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
    // The log keeps all that was committed, and the next checkpoint copies it. Damage is found by reads and writes.
  }
  parentPort?.postMessage({ id, pages } satisfies CheckpointReply);
});
