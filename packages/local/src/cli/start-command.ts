import * as v from "valibot";
import { defineCommand, describeOption, Flag } from "./define-command.ts";

export const startCommand = defineCommand({
  options: v.strictObject({
    fresh: describeOption(Flag, "deletes the stored state first: accounts, keys, jobs, results"),
  }),
  examples: ["start", "start --fresh"],
  outlivesOutput: true,
  run: async ({ environment, options }) => {
    const { serve } = await import("../server/serve.ts");
    await serve(environment, options.fresh);
    return 0;
  },
});
