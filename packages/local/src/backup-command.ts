import { existsSync } from "node:fs";
import { resolve } from "node:path";
import * as v from "valibot";
import { assertHouse } from "./admin.ts";
import { backUp } from "./backup.ts";
import { command, Misuse } from "./command.ts";

export const backupCommand = command({
  name: "admin backup",
  usage: "--to FOLDER",
  options: v.strictObject({ to: v.pipe(v.string(), v.minLength(1, "must not be empty")) }),
  async run({ environment, options }) {
    const folder = resolve(options.to);
    assertHouse(environment.MAILPROOF_DIR);
    if (existsSync(folder)) throw new Misuse(`${folder} already exists.`);
    const { at, files } = await backUp(environment.MAILPROOF_DIR, folder);
    process.stdout.write(
      `${JSON.stringify({ folder, as_of: at.toISOString(), files }, null, 2)}\n`,
    );
    return 0;
  },
});
