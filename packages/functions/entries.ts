import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { endpoints } from "@mailproof/api/endpoints";
import { type Endpoint, toFileName } from "@mailproof/api/http/endpoint";
import * as work from "@mailproof/core/background/work";
import { workers } from "@mailproof/core/background/workers";
import { isDeadLetterQueue } from "@mailproof/core/ports/queue";
import type { Need } from "@mailproof/core/runtime/need";

// Every endpoint and every worker is its own Lambda, so each needs a file that the bundler begins at. These files
// follow from the lists of endpoints and workers and are written before anything is bundled; they are not part of the
// source. Paths are those from the root of the repository, in which every build runs.

/** The parts of a Lambda besides its table, and the needs of each. A bundle contains only the parts that it needs. */
const CAPABILITIES: readonly (readonly [needs: readonly Need[], name: string, file: string])[] = [
  [["queue:send", "queue:depth"], "withQueue", "queue"],
  [["blobs:read", "blobs:write"], "withBlobs", "blobs"],
  [["lists"], "withLists", "lists"],
  [["mail"], "withProber", "prober"],
  [["dns"], "withDns", "dns"],
  [["https"], "withHttps", "https"],
  [["passkeys"], "withPasskeys", "passkeys"],
  [["relay"], "withRelay", "relay"],
  [["smtp"], "withMailServers", "mail-servers"],
  [["oidc"], "withOidc", "oidc"],
];

type EntryEndpoint = Pick<Endpoint, "id" | "needs">;

type EntryWorker = Pick<(typeof workers)[number], "queue" | "needs">;

const FOLDER = "packages/functions/generated";

/** The path of an endpoint's entry. */
export const getEntryFile = (endpoint: Pick<Endpoint, "id">): string =>
  `${FOLDER}/http/${toFileName(endpoint)}.ts`;
export const getWorkerEntryFile = ({ queue }: EntryWorker): string =>
  `${FOLDER}/workers/${queue.name}.ts`;

const toWorld = (needs: readonly Need[]) => {
  const used = CAPABILITIES.filter(([wanted]) => wanted.some((need) => needs.includes(need)));
  const imports = used.map(
    ([, name, file]) => `import { ${name} } from "../../src/capabilities/${file}.ts";\n`,
  );
  return {
    imports: `${imports.join("")}import { createLambdaWorld } from "../../src/lambda-world.ts";`,
    world: `createLambdaWorld([${used.map(([, name]) => name).join(", ")}])`,
  };
};

export const toEntry = ({ id, needs }: EntryEndpoint): string => {
  const { imports, world } = toWorld(needs);
  return `import { ${id} } from "@mailproof/api/endpoints/${toFileName({ id })}";
import { lambda } from "../../src/lambda.ts";
${imports}

export const handler = lambda(${id}, ${world});
`;
};

export const toWorkerEntry = ({ queue, needs }: EntryWorker): string => {
  const { imports, world } = toWorld(needs);
  const isDead = isDeadLetterQueue(queue.name);
  const [name = ""] =
    Object.entries(work).find(
      ([, one]) => "queue" in one && queue.name.replace(/-dead$/, "") === one.queue.name,
    ) ?? [];
  const helper = isDead
    ? 'import { toDeadLetterWorker } from "@mailproof/core/runtime/worker";\n'
    : "";
  return `import { ${name} } from "@mailproof/core/background/work";
${helper}${imports}
import { createQueueHandler } from "../../src/queue-handler.ts";

export const handler = createQueueHandler(${isDead ? `toDeadLetterWorker(${name})` : name}, ${world});
`;
};

type Entry = readonly [file: string, text: string];

const MADE: Readonly<Record<LambdaKind, () => readonly Entry[]>> = {
  http: () => endpoints.map((one) => [getEntryFile(one), toEntry(one)]),
  workers: () => workers.map((one) => [getWorkerEntryFile(one), toWorkerEntry(one)]),
  schedules: () => [],
};

/** Writes the entries of every endpoint or worker. */
const writeEntries = (kind: LambdaKind): readonly string[] =>
  MADE[kind]().map(([file, text]) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileAtomic(file, text);
    return file;
  });

/** Several builds may run at once: a reader finds the whole file or the one before it. */
const writeFileAtomic = (path: string, text: string): void => {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, path);
};

export type LambdaKind = "http" | "workers" | "schedules";

/** Lists the entry files of these kinds of Lambda. */
export const listEntries = (...kinds: readonly LambdaKind[]): readonly string[] =>
  kinds.flatMap((kind) => [
    ...writeEntries(kind),
    ...globSync(`packages/functions/src/${kind}/*.ts`),
  ]);

if (import.meta.main) listEntries("http", "workers");
