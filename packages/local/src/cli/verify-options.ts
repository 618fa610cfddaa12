import * as v from "valibot";
import { type CommandInput, describeOption, Flag } from "./define-command.ts";
import { DRY_RUN } from "./dry-run.ts";
import { OUTPUT } from "./follow-job.ts";
import { COLUMN } from "./list-file.ts";
import { LOCAL, QUIET, SERVICE } from "./service.ts";

export const VerifyOptions = v.strictObject({
  file: describeOption(v.optional(v.string()), "verifies the list in this file: text or .xlsx", {
    value: "LIST",
  }),
  ...COLUMN,
  ...OUTPUT,
  evidence: describeOption(Flag, "adds the evidence of each verdict"),
  ...DRY_RUN,
  ...QUIET,
  ...LOCAL,
  ...SERVICE,
});

export type VerifyInput = CommandInput<typeof VerifyOptions>;
