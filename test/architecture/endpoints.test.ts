import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Endpoint, Need } from "@mailproof/api/endpoint";
import { endpoints } from "@mailproof/api/endpoints";
import { schedules, workers } from "@mailproof/core/workers";
import { expect, test } from "vitest";
import { fileOf, nameOf } from "./file-of.ts";

/** The way out that a need stands for. Without one, a Lambda carries neither lists nor resolvers. */
const REACH: readonly (readonly [Need, name: string, file: string])[] = [
  ["mail", "toProber", "prober"],
  ["dns", "toDns", "dns"],
  ["https", "toSubscribers", "https"],
];

const entryOf = (file: string, needs: readonly Need[] = []) => {
  const [, name, from] = REACH.find(([need]) => needs.includes(need)) ?? [];
  const imported = `import { ${nameOf(file)} } from "@mailproof/api/endpoints/${file}";
import { lambda } from "../lambda.ts";
`;
  return name
    ? `${imported}import { ${name} } from "../reach/${from}.ts";
import { awsWorld } from "../world.ts";

export const handler = lambda(${nameOf(file)}, awsWorld(${name}));
`
    : `${imported}
export const handler = lambda(${nameOf(file)});
`;
};

const namesIn = (pattern: string) => globSync(pattern).map((path) => basename(path, ".ts"));
const files = namesIn("packages/api/src/endpoints/*.ts");

test.each(files)("%s is listed, named by its route, and a Lambda of its own", async (file) => {
  const module = (await import(`../../packages/api/src/endpoints/${file}.ts`)) as Record<
    string,
    Endpoint
  >;
  const endpoint = module[nameOf(file)];

  expect(endpoints, `endpoints.ts does not list ${nameOf(file)}`).toContain(endpoint);
  expect(fileOf(endpoint?.route ?? ""), "the file is named by another route").toBe(file);
  const entry = `packages/functions/src/http/${file}.ts`;
  expect(existsSync(entry), `${entry} is missing`).toBe(true);
  expect(readFileSync(entry, "utf8")).toBe(entryOf(file, endpoint?.needs));
});

test("every Lambda entry belongs to an endpoint, or to what has none", () => {
  expect(namesIn("packages/functions/src/http/*.ts").toSorted()).toEqual(
    [...files, "$default", "mcp"].toSorted(),
  );
});

test("every worker and every schedule is a Lambda of its own, and the prober is one", () => {
  expect(namesIn("packages/functions/src/workers/*.ts").toSorted()).toEqual(
    [...workers.map(({ queue }) => queue.name), "prober"].toSorted(),
  );
  // Two more measure what an operator's alarms go by.
  expect(namesIn("packages/functions/src/schedules/*.ts").toSorted()).toEqual(
    [...schedules.map(({ name }) => name), "audit", "gauge"].toSorted(),
  );
});
