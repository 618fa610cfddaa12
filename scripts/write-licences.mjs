// Writes docs/licences.md again. Run it when a test says that it is stale: npx node scripts/write-licences.mjs
import { writeFileSync } from "node:fs";
import { formatLicencesPage } from "./licences.ts";

writeFileSync("docs/licences.md", await formatLicencesPage());
