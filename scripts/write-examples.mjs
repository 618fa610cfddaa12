// Writes the examples of the document again. Run it when a test says that they are stale:
// npx node scripts/write-examples.mjs
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { recordEvents, recordExamples } from "../test/api/recorded.ts";
import { findTools } from "./tools.ts";

const EXAMPLES = "packages/api/src/openapi/examples.ts";

const head = `\
// Written by scripts/write-examples.mjs: requests that were really sent, and what was answered.

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

const examples = JSON.stringify(await recordExamples(), null, 2);
const events = JSON.stringify(await recordEvents(), null, 2);
writeFileSync(
  EXAMPLES,
  `${head}${examples};

/** What arrives at a webhook, by the name of the event. */
export const EVENT_EXAMPLES: Readonly<Record<string, unknown>> = ${events};\n`,
);
execFileSync(join(findTools(), "biome"), ["format", "--write", EXAMPLES]);
