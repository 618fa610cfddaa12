import { existsSync } from "node:fs";
import { resolve } from "node:path";
import * as v from "valibot";
import type { Environment } from "../environment.ts";
import { createBackup } from "../storage/backup.ts";
import { type AdminResult, definePrinted } from "./define-admin.ts";
import { assertStateFolder } from "./define-app-command.ts";
import { UsageError } from "./define-command.ts";

const backupOptions = v.strictObject({
  to: v.pipe(v.string(), v.minLength(1, "must not be empty")),
});

export const runBackup = async (
  { MAILPROOF_DIR }: Pick<Environment, "MAILPROOF_DIR">,
  { to }: v.InferOutput<typeof backupOptions>,
): Promise<AdminResult> => {
  const folder = resolve(to);
  assertStateFolder(MAILPROOF_DIR);
  if (existsSync(folder)) throw new UsageError(`${folder} already exists.`);
  const { at, files } = await createBackup(MAILPROOF_DIR, folder).catch((cause: Error) => {
    throw new Error(`The backup to ${folder} failed: ${cause.message}`, { cause });
  });
  return { output: { folder, as_of: at.toISOString(), files } };
};

export const backupCommand = definePrinted(
  { usage: "--to FOLDER", options: backupOptions },
  ({ environment, options }) => runBackup(environment, options),
);
