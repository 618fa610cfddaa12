import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";

/** The whole architecture, as data. A package may import itself, what is listed, and nothing else. */
const MAY_IMPORT: Record<string, RegExp> = {
  core: /^(valibot|node:crypto|node:url|node:zlib)$/,
  api: /^(@mailproof\/core\/|valibot$)/,
  net: /^(@mailproof\/core\/|socks$|jose$|node:)/,
  mcp: /^(@mailproof\/(core|api)\/|@modelcontextprotocol\/server$)/,
  // Published, so all of it is its own; it knows no host, and no host's modules.
  client: /$^/,
  local: /^(@mailproof\/(core|api|net|client|mcp)\/|valibot$|dns-packet$|node:)/,
  functions:
    /^(@mailproof\/(core|api|net|mcp)\/|@aws-lambda-powertools\/|@middy\/|@smithy\/(signature-v4|node-http-handler)$|aws-lambda$|node:)/,
};

const NOTHING = /$^/;

/** Every way to name another file: import, export … from, import(), require. Sentences that say "from" are none. */
const IMPORT =
  /(?:^|;)\s*(?:import|export)\b(?:[^"';]*?\bfrom)?\s*["']([^"']+)["']|\b(?:import|require)\s*\(\s*["'`]([^"'`]+)["'`]/gm;
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

const importsOf = (file: string) =>
  [...readFileSync(file, "utf8").replaceAll(COMMENT, "").matchAll(IMPORT)].map(
    ([, named, called]) => named ?? called ?? "",
  );

const packages = globSync("packages/*").map((path) => basename(path));
const sourcesOf = (name: string) => globSync(`packages/${name}/src/**/*.ts`);

test.each(packages)("packages/%s imports only what it may", (name) => {
  const allowed = MAY_IMPORT[name] ?? NOTHING;
  const strays = sourcesOf(name).flatMap((file) =>
    importsOf(file)
      .filter((imported) => !imported.startsWith(".") && !allowed.test(imported))
      .map((imported) => `${file} imports ${imported}`),
  );

  expect(strays).toEqual([]);
});

test.each(packages)("packages/%s reaches into no other package by a path", (name) => {
  const home = `packages/${name}/`;
  const strays = sourcesOf(name).flatMap((file) =>
    importsOf(file)
      .filter((imported) => imported.startsWith("."))
      .map((imported) => new URL(imported, `file:///${file}`).pathname.slice(1))
      .filter((reached) => !reached.startsWith(home))
      .map((reached) => `${file} reaches into ${reached}`),
  );

  expect(strays).toEqual([]);
});

/** What a file needs to run: an import of types alone is gone by then. */
const NEEDED = /^(?:import|export) (?!type )[^"';]*?"(\.[^"]+|@mailproof\/[^"]+)"/gm;

const neededBy = (file: string): readonly string[] =>
  [...readFileSync(file, "utf8").replaceAll(COMMENT, "").matchAll(NEEDED)]
    .filter(([found]) => !/\{(?:\s*type \w+,?)+\s*\}/.test(found))
    .map(([, to = ""]) =>
      to.startsWith(".")
        ? new URL(to, `file:///${file}`).pathname.slice(1)
        : to.replace(/^@mailproof\/(\w+)\/(.*)$/, "packages/$1/src/$2.ts"),
    );

test("no file needs itself by way of others", () => {
  const all = packages.flatMap(sourcesOf);
  let left = new Map(all.map((file) => [file, neededBy(file).filter((to) => all.includes(to))]));
  // Whatever needs nothing that is left, or is needed by nothing that is, is in no circle.
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const needed = new Set([...left.values()].flat());
    left = new Map(
      [...left].filter(([file, needs]) => needed.has(file) && needs.some((to) => left.has(to))),
    );
  }

  expect([...left.keys()]).toEqual([]);
});
