import { audit } from "@mailproof/core/background/audit";
import { reportCalibration } from "@mailproof/core/calibration/report";
import { listCanaryCounts } from "@mailproof/core/verify/canaries";
import * as v from "valibot";
import { formatCalibration } from "./calibration-output.ts";
import { definePortable } from "./define-admin.ts";
import { Flag } from "./define-command.ts";
import { formatProviders } from "./providers-output.ts";

const Months = v.pipe(
  v.string(),
  v.regex(/^(?:[1-9]|1[0-3])$/, "must be a number of months from 1 to 13"),
  v.transform(Number),
);

export const reportDefinitions = {
  "admin calibration": definePortable({
    usage: "[--months M]",
    options: v.strictObject({ months: v.optional(Months, "2") }),
    async run(world, { months }) {
      return { output: formatCalibration(await reportCalibration(world, months)) };
    },
  }),

  "admin providers": definePortable({
    usage: "",
    options: v.strictObject({}),
    async run(world) {
      return { output: formatProviders(await listCanaryCounts(world.table), world.now()) };
    },
  }),

  "admin audit": definePortable({
    usage: "[--full]",
    options: v.strictObject({ full: Flag }),
    async run(world, { full }) {
      const output = await audit(world.table, world.now(), { isFull: full });
      return { output, exitCode: output.ok ? 0 : 1 };
    },
  }),
};
