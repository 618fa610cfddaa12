// Loaded before anything else, and in plain JavaScript: an older Node cannot even read the rest.
import { existsSync } from "node:fs";
import module from "node:module";

const REQUIRED_MAJOR = 24;
const [major] = process.versions.node.split(".").map(Number);

if (major < REQUIRED_MAJOR) {
  console.error(
    `Mailproof needs Node ${REQUIRED_MAJOR} or newer; this is ${process.version}.\n` +
      `On Linux x64 'npm ci' brings it along: start with 'npm start' or 'npx mailproof'.\n` +
      `Elsewhere install Node ${REQUIRED_MAJOR} from https://nodejs.org.`,
  );
  process.exit(1);
}

if (!existsSync(new URL("../node_modules/@mailproof/core", import.meta.url))) {
  console.error("The packages that Mailproof needs are not here yet: run 'npm ci' first.");
  process.exit(1);
}

// Halves the start of a command: what was compiled once is kept in the system's folder for such things.
module.enableCompileCache();
