import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import * as v from "valibot";
import type { Environment } from "../environment.ts";
import { createBackup } from "../storage/backup.ts";
import { recordBackup } from "../storage/last-backup.ts";
import { toCopyName } from "../storage/upgrade-copies.ts";
import { type AdminResult, definePrinted } from "./define-admin.ts";
import { assertStateFolder } from "./define-app-command.ts";
import { UsageError } from "./define-command.ts";

const backupOptions = v.strictObject({
  to: v.pipe(v.string(), v.minLength(1, "must not be empty")),
  keep: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,2}$/, "must be a number from 1 to 999"),
      v.transform(Number),
    ),
  ),
});

export const runBackup = async (
  { MAILPROOF_DIR }: Pick<Environment, "MAILPROOF_DIR">,
  { to, keep }: v.InferOutput<typeof backupOptions>,
): Promise<AdminResult> => {
  const folder = keep === undefined ? resolve(to) : join(resolve(to), toName(new Date()));
  assertStateFolder(MAILPROOF_DIR);
  if (existsSync(folder)) throw new UsageError(`${folder} already exists.`);
  const { at, files } = await createBackup(MAILPROOF_DIR, folder).catch((cause: Error) => {
    throw new Error(`The backup to ${folder} failed: ${cause.message}`, { cause });
  });
  recordBackup(MAILPROOF_DIR, at);
  const removed = keep === undefined ? [] : removeOld(resolve(to), keep);
  return { output: { folder, as_of: at.toISOString(), files, ...(keep && { removed }) } };
};

const PREFIX = "mailproof-";
const NAME = /^mailproof-\d{4}-\d\d-\d\dT[\d-]+Z$/;
const toName = (at: Date): string => PREFIX + toCopyName(at);

/** Only names that this command gives. Returns what it removed. */
const removeOld = (parent: string, keep: number): string[] => {
  const names = readdirSync(parent).filter((name) => NAME.test(name));
  const old = names.toSorted().slice(0, -keep);
  for (const name of old) rmSync(join(parent, name), { recursive: true });
  return old;
};

export const backupCommand = definePrinted(
  { usage: "--to FOLDER [--keep N]", options: backupOptions },
  ({ environment, options }) => runBackup(environment, options),
);
