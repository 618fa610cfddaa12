import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTools } from "./tools.ts";

// npx node scripts/write.ts [NAME ...] writes the named made files again, or all of them. A test fails when one is stale, and prints the
// command.

/** Replaces what follows a heading. */
const replaceFrom = (file: string, heading: string, text: string): void => {
  const [before] = readFileSync(file, "utf8").split(heading);
  writeFileSync(file, `${before}${text}\n`);
};

const writeSource = (file: string, source: string): void => {
  writeFileSync(file, source);
  execFileSync(join(findTools(), "biome"), ["format", "--write", file]);
};

/** Each loads its modules late: the lab's tables need no bundler. */
const MADE: Readonly<Record<string, () => Promise<void>>> = {
  examples: async () => {
    const { EXAMPLES, formatExamples } = await import("./made/examples.ts");
    writeSource(EXAMPLES, await formatExamples());
  },
  client: async () => {
    const { buildClientTypes } = await import("./made/client-types.ts");
    for (const [file, source] of Object.entries(buildClientTypes())) writeFileSync(file, source);
    const { BUILT, buildClient } = await import("./made/client.ts");
    writeFileSync(BUILT, await buildClient());
  },
  guard: async () => {
    const { BUILT, formatGuard } = await import("./made/guard.ts");
    writeSource(BUILT, await formatGuard());
  },
  licences: async () => {
    const { formatLicencesPage } = await import("./made/licences.ts");
    writeFileSync("docs/licences.md", await formatLicencesPage());
  },
  deployment: async () => {
    const { drawDeployment } = await import("../infra/picture.ts");
    writeFileSync("docs/deployment.svg", drawDeployment());
  },
  lab: async () => {
    const { formatLabTables } = await import("@mailproof/lab/lab-tables");
    const heading = "## What to expect\n";
    replaceFrom("docs/lab.md", heading, `${heading}\n${formatLabTables()}`);
  },
  receivers: async () => {
    const { formatAtlas } = await import("@mailproof/lab/receivers/receiver-atlas");
    replaceFrom("docs/receivers.md", "## Documented receivers\n", formatAtlas());
  },
  /** Without measuring anything: npm run bench measures. */
  performance: async () => (await import("../bench/performance.ts")).writePage(),
};

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(MADE, name));
if (unknown.length > 0) {
  console.error(
    `Nothing is called ${unknown.join(", ")}. There are: ${Object.keys(MADE).join(", ")}.`,
  );
  process.exit(2);
}
for (const [name, write] of Object.entries(MADE))
  if (named.length === 0 || named.includes(name)) await write();
process.exit();
