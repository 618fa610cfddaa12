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

const EXAMPLES = "packages/api/src/openapi/examples.ts";

const EXAMPLES_HEAD = `\
// Written by scripts/write.ts: requests that were really sent, and what was answered.

export type Example = {
  readonly route: string;
  readonly name: string;
  readonly title: string;
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly request?: unknown;
  readonly status: number;
  readonly answer: unknown;
};

export const EXAMPLES: readonly Example[] = `;

/** Records the examples of the document by sending requests through the service. */
const formatExamples = async (): Promise<string> => {
  const { recordEvents, recordExamples } = await import("../test/api/recorded.ts");
  const examples = JSON.stringify(await recordExamples(), null, 2);
  const events = JSON.stringify(await recordEvents(), null, 2);
  return `${EXAMPLES_HEAD}${examples};

/** What arrives at a webhook, by the name of the event. */
export const EVENT_EXAMPLES: Readonly<Record<string, unknown>> = ${events};\n`;
};

/** Each loads its modules late: the lab's tables need no bundler. */
const MADE: Readonly<Record<string, () => Promise<void>>> = {
  examples: async () => {
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
