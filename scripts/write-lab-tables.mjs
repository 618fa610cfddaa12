// Run after the domains of the lab have changed: npx node scripts/write-lab-tables.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { formatLabTables } from "@mailproof/lab/lab-tables";

const FILE = "docs/lab.md";
const HEADING = "## What to expect\n";

const [before] = readFileSync(FILE, "utf8").split(HEADING);
writeFileSync(FILE, `${before}${HEADING}\n${formatLabTables()}\n`);
