// npx node scripts/exit-cloud-init.ts exit.env > user-data: what a provider's form calls user data, for an exit with the settings
// of that file (docs/egress.md), its password included.
import { readFileSync } from "node:fs";
import { createCloudInit } from "../infra/cloud-init.ts";

const [file] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write("Usage: npx node scripts/exit-cloud-init.ts exit.env > user-data\n");
  process.exit(2);
}
process.stdout.write(createCloudInit(readFileSync(file, "utf8")));
