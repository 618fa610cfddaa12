import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getToolFolder } from "../tools.ts";
import type { History } from "./history.ts";

export type Verdict = {
  readonly verdict: "Ok" | "Illegal" | "Unknown";
  readonly operations: number;
  readonly accounts: number;
  /** The accounts that no register can explain. */
  readonly wrong: readonly string[];
  readonly ms: number;
};

/** Porcupine's verdict on a history. */
export const judge = (history: History): Verdict => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-history-"));
  const file = process.env["MONEY_HISTORY"] ?? join(folder, "history.jsonl");
  history.write(file);
  const printed = execFileSync(join(getToolFolder("porcupine"), "run"), [file], {
    encoding: "utf8",
  });
  rmSync(folder, { recursive: true });
  return JSON.parse(printed) as Verdict;
};
