import { STATUSES } from "@mailproof/core/verify/result";
import * as v from "valibot";
import { type CommandInput, describeOption, Flag } from "./define-command.ts";
import { DRY_RUN } from "./dry-run.ts";
import { OUTPUT } from "./follow-job.ts";
import { COLUMN } from "./list-file.ts";
import { LOCAL, QUIET, SERVICE } from "./service.ts";

const StatusNames = v.pipe(
  v.string(),
  v.transform((text) => text.split(",").map((one) => one.trim())),
  v.array(v.picklist(STATUSES, `must be a list of ${STATUSES.join(", ")}`)),
);

export const VerifyOptions = v.strictObject({
  file: describeOption(v.optional(v.string()), "verifies the list in this file: text or .xlsx", {
    value: "LIST",
  }),
  ...COLUMN,
  ...OUTPUT,
  "fail-on": describeOption(
    v.optional(StatusNames),
    "ends with exit code 1 if a result has one of these statuses, separated by commas",
    { value: "STATUS,…" },
  ),
  evidence: describeOption(Flag, "adds the evidence of each verdict"),
  ...DRY_RUN,
  ...QUIET,
  ...LOCAL,
  ...SERVICE,
});

export type VerifyInput = CommandInput<typeof VerifyOptions>;
