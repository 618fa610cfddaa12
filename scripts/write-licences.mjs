// Writes docs/licences.md again. Run it when a test says that it is stale: node scripts/write-licences.mjs
import { writeFileSync } from "node:fs";
import { licencesPage } from "./licences.ts";

writeFileSync("docs/licences.md", await licencesPage());
