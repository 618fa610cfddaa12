import * as v from "valibot";
import { defineCommand, Flag } from "./define-command.ts";

/** `mailproof start`; in a clone `npm start` does the same. */
export const startCommand = defineCommand({
  name: "start",
  usage: "[--fresh]",
  options: v.strictObject({ fresh: Flag }),
  flags: ["fresh"],
  run: async ({ environment, options }) => {
    // No other command needs the server, so no other loads it.
    const { serve } = await import("../server/serve.ts");
    await serve(environment, options.fresh);
    return 0;
  },
});
