import { resolve } from "node:path";
import { NODE_OPTIONS } from "../../scripts/node-options.ts";

// Servers and commands of the tests are the npm package's: it is what users run, and it starts in half the time of the sources.

/** test/runner/package.setup.ts builds it. */
export const PACKAGE_FOLDER = resolve(".cache/package");

/** What Node is started with for a command. */
export const MAILPROOF = [...NODE_OPTIONS, `${PACKAGE_FOLDER}/mailproof.cjs`] as const;
