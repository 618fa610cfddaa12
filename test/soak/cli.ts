import { parseArgs } from "node:util";
import { soakForLong } from "./lasting.ts";

// npx node test/soak/cli.ts --minutes N [--seed S]
// test/soak/lasting.ts says its purpose.

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes >= 1) || !Number.isSafeInteger(seed)) {
  process.stderr.write("--minutes must be a number from 1 up, and --seed a whole number.\n");
  process.exit(2);
}
await soakForLong(minutes, seed);
