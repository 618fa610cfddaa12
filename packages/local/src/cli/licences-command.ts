import * as v from "valibot";
import { readLicences } from "../installation.ts";
import { defineCommand } from "./define-command.ts";

export const licencesCommand = defineCommand({
  options: v.strictObject({}),
  run: async () => {
    process.stdout.write(readLicences());
    return 0;
  },
});
