// Run after a receiver of the lab has changed: npx node scripts/write-receivers-page.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { formatAtlas } from "@mailproof/lab/receivers/receiver-atlas";

const FILE = "docs/receivers.md";
const HEADING = "## Documented receivers\n";

const [before] = readFileSync(FILE, "utf8").split(HEADING);
writeFileSync(FILE, `${before}${formatAtlas()}\n`);
