import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { getMessage } from "./sqlite.ts";
import type { CheckRequest } from "./state-check.ts";

const { file, json } = workerData as CheckRequest;

/** Checks pages and rows with SQLite's own check, and the text of each row as JSON, which SQLite does not read. */
const findDamage = (): string | null => {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      const [first] = db.prepare("PRAGMA quick_check(1)").all();
      const result = String(first?.["quick_check"]);
      if (result !== "ok") return `${file} is damaged: ${result.replaceAll(/\s+/g, " ")}`;
      return db.prepare(json).get() ? `${file} is damaged: a row is not JSON` : null;
    } finally {
      db.close();
    }
  } catch (error) {
    return `${file} is damaged: ${getMessage(error)}`;
  }
};

parentPort?.postMessage(findDamage());
