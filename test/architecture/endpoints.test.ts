import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Endpoint } from "@mailproof/api/endpoint";
import { endpoints } from "@mailproof/api/endpoints";
import { expect, test } from "vitest";
import { fileOf, nameOf } from "./file-of.ts";

const entryOf = (file: string) => `\
import { ${nameOf(file)} } from "@mailproof/api/endpoints/${file}";
import { lambda } from "../lambda.ts";

export const handler = lambda(${nameOf(file)});
`;

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
  expect(readFileSync(`packages/functions/src/http/${file}.ts`, "utf8")).toBe(entryOf(file));
});

test("every Lambda entry belongs to an endpoint, or to what has none", () => {
  expect(namesIn("packages/functions/src/http/*.ts").toSorted()).toEqual(
    [...files, "$default", "mcp"].toSorted(),
  );
});
