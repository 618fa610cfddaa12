// Run after a command or an option has changed: npx node scripts/write-command-line.ts
import { readFileSync, writeFileSync } from "node:fs";
import { commands } from "@mailproof/local/cli/commands";
import { loadCommands } from "@mailproof/local/cli/define-command";
import { formatReference } from "@mailproof/local/cli/reference";

const FILE = "docs/command-line.md";
const HEADING = "## Reference\n";

const [before] = readFileSync(FILE, "utf8").split(HEADING);
writeFileSync(FILE, `${before}${HEADING}\n${formatReference(await loadCommands(commands))}`);
