import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { endpoints } from "@mailproof/api/endpoints";
import { type Endpoint, type Need, toFileName } from "@mailproof/api/http/endpoint";

// Every endpoint is a Lambda of its own, so each needs a file that the bundler begins at. These files follow from the
// list of endpoints and are written before anything is bundled; they are not part of the source.

/** What a Lambda has beside its table, by the needs that stand for it: without one, a bundle carries none of it. */
const CAPABILITIES: readonly (readonly [needs: readonly Need[], name: string, file: string])[] = [
  [["queue:send", "queue:depth"], "withQueue", "queue"],
  [["blobs:read", "blobs:write"], "withBlobs", "blobs"],
  [["mail"], "withProber", "prober"],
  [["dns"], "withDns", "dns"],
  [["https"], "withHttps", "https"],
];

type EntryEndpoint = Pick<Endpoint, "id" | "needs">;

const FOLDER = "packages/functions/generated/http";

/** Where the entry of an endpoint is written, from the root of the repository. */
export const getEntryFile = (endpoint: Pick<Endpoint, "id">): string =>
  `${FOLDER}/${toFileName(endpoint)}.ts`;

export const toEntry = ({ id, needs }: EntryEndpoint): string => {
  const used = CAPABILITIES.filter(([wanted]) => wanted.some((need) => needs.includes(need)));
  const imports = used.map(
    ([, name, file]) => `import { ${name} } from "../../src/capabilities/${file}.ts";\n`,
  );
  const names = used.map(([, name]) => name).join(", ");
  return `import { ${id} } from "@mailproof/api/endpoints/${toFileName({ id })}";
import { lambda } from "../../src/lambda.ts";
${imports.join("")}import { createLambdaWorld } from "../../src/lambda-world.ts";

export const handler = lambda(${id}, createLambdaWorld([${names}]));
`;
};

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Writes the entry of every endpoint, and returns their paths from the root of the repository. */
export const writeEntries = (): readonly string[] => {
  mkdirSync(`${root}${FOLDER}`, { recursive: true });
  return endpoints.map((endpoint) => {
    const file = getEntryFile(endpoint);
    writeFileAtomic(`${root}${file}`, toEntry(endpoint));
    return file;
  });
};

/** Several builds may run at once: a reader finds the whole file or the one before it. */
const writeFileAtomic = (path: string, text: string): void => {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, path);
};

export type LambdaKind = "http" | "workers" | "schedules";

/** What the bundler begins at, for these kinds of Lambda. Paths are relative to the directory that it runs in. */
export const listEntries = (...kinds: readonly LambdaKind[]): readonly string[] => {
  const made = kinds.includes("http") ? writeEntries() : [];
  const own = kinds.flatMap((kind) =>
    globSync(`packages/functions/src/${kind}/*.ts`, { cwd: root }),
  );
  return [...made, ...own].map((file) => relative(process.cwd(), `${root}${file}`));
};

if (import.meta.main) writeEntries();
