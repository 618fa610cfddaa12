import { recordEvents, recordExamples } from "../../test/api/recorded.ts";

export const EXAMPLES = "packages/api/src/openapi/examples.ts";

const head = `\
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
export const formatExamples = async (): Promise<string> => {
  const examples = JSON.stringify(await recordExamples(), null, 2);
  const events = JSON.stringify(await recordEvents(), null, 2);
  return `${head}${examples};

/** What arrives at a webhook, by the name of the event. */
export const EVENT_EXAMPLES: Readonly<Record<string, unknown>> = ${events};\n`;
};
