import { existsSync } from "node:fs";
import { resolve } from "node:path";
import * as v from "valibot";
import { createBackup } from "../storage/backup.ts";
import { assertStateFolder } from "./admin.ts";
import { defineCommand, UsageError } from "./define-command.ts";

export const backupCommand = defineCommand({
  name: "admin backup",
  usage: "--to FOLDER",
  options: v.strictObject({ to: v.pipe(v.string(), v.minLength(1, "must not be empty")) }),
  async run({ environment, options }) {
    const folder = resolve(options.to);
    assertStateFolder(environment.MAILPROOF_DIR);
    if (existsSync(folder)) throw new UsageError(`${folder} already exists.`);
    const { at, files } = await createBackup(environment.MAILPROOF_DIR, folder);
    process.stdout.write(
      `${JSON.stringify({ folder, as_of: at.toISOString(), files }, null, 2)}\n`,
    );
    return 0;
  },
});
