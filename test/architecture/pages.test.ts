import { existsSync, globSync, readFileSync } from "node:fs";
import { listOptions } from "@mailproof/local/cli/command-options";
import { commands } from "@mailproof/local/cli/commands";
import { loadCommands } from "@mailproof/local/cli/define-command";
import { EXIT_CODES } from "@mailproof/local/cli/exit-codes";
import { SETTINGS } from "@mailproof/local/environment";
import { expect, test } from "vitest";
import { NODE_OPTIONS } from "../../scripts/node-options.ts";

const loaded = await loadCommands(commands);

const page = (file: string) => readFileSync(file, "utf8");

test.each(commands.map(({ name }) => name))(
  "docs/command-line.md documents mailproof %s",
  (name) => {
    const shown = name.startsWith("admin ") ? `\`${name}\`` : `npx mailproof ${name}`;

    expect(page("docs/command-line.md")).toContain(shown);
  },
);

test("docs/command-line.md explains every exit code", () => {
  const rows = page("docs/command-line.md").matchAll(/^\| (\d+) +\| (.*?) +\|$/gm);

  expect([...rows].map(([, code, text]) => ({ code: Number(code), text }))).toEqual(
    Object.values(EXIT_CODES),
  );
});

test("every option of a command that is not the operator's has a description", () => {
  const silent = loaded
    .filter(({ name }) => !name.startsWith("admin "))
    .flatMap((command) => listOptions(command).map((option) => ({ command, option })))
    .filter(({ option }) => option.text === "");

  expect(silent.map(({ command, option }) => `${command.name} --${option.name}`)).toEqual([]);
});

/** As infra/cdk names them; what stands behind a name that is made is another for each queue, Lambda or zone. */
const alarms = ["alarms", "lambda-alarms"].flatMap((file) =>
  [...page(`infra/cdk/${file}.ts`).matchAll(/id: ["`](\w+-?)/g)].map(([, id = ""]) => id),
);

test.each([...new Set(alarms)])("docs/operating.md describes the remedy when %s rings", (id) => {
  expect(page("docs/operating.md")).toMatch(new RegExp(`^\\| [^|]*\`${id}(?:…[-\\w]*)?\``, "m"));
});

test("a README contains at most 150 lines, so that a newcomer can read it at once", () => {
  expect(page("README.md").split("\n").length).toBeLessThanOrEqual(150);
});

const designPages = globSync("docs/design/*.md").map((path) => path.replace("docs/design/", ""));

test("docs/design/README.md links each design page once", () => {
  const named = [...page("docs/design/README.md").matchAll(/\]\(([\w-]+\.md)\)/g)].map(
    ([, name = ""]) => name,
  );

  expect(named.toSorted()).toEqual(designPages.filter((name) => name !== "README.md").toSorted());
});

test("the pages of docs/design contain at most 17,000 words, and each takes five minutes to read", () => {
  const words = designPages.map((name) => page(`docs/design/${name}`).split(/\s+/).length);

  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(17_000);
  expect(Math.max(...words)).toBeLessThanOrEqual(1_100);
});

test("the links of a design page lead to existing pages", () => {
  const links = designPages.flatMap((name) =>
    [...page(`docs/design/${name}`).matchAll(/\]\(((?:\.\.\/)?[\w-]+\.md)(?:#[^)]*)?\)/g)].map(
      ([, to = ""]) => `docs/design/${to}`,
    ),
  );

  expect(links.length).toBeGreaterThan(40);
  expect(links.filter((path) => !existsSync(path))).toEqual([]);
});

test("the pages of the areas contain the reasons, and no numbered records exist", () => {
  expect(existsSync("docs/decisions")).toBe(false);
});

const sources = globSync(
  ["*.ts", "{packages,infra,test,bench,scripts}/**/*.{ts,tsx,mjs,json,css}", "docs/**/*.md"],
  { exclude: ["**/node_modules/**"] },
);

/** By its end: "core/src/ports/world.ts" is packages/core/src/ports/world.ts, and a star is any name. */
const isThere = (path: string): boolean => {
  const end = new RegExp(`(?:^|/)${RegExp.escape(path).replaceAll("\\*", "[^/]*")}$`);
  return sources.some((file) => end.test(file));
};

test.each(["CONTRIBUTING.md", ...globSync("docs/{*,design/*}.md")])(
  "the page %s names only existing files",
  (name) => {
    const named = [...page(name).matchAll(/`([\w$*][\w./*-]*\.(?:tsx?|mjs))`/g)];

    expect(named.map(([, path = ""]) => path).filter((path) => !isThere(path))).toEqual([]);
  },
);

test("docs/settings.md lists every setting that the code reads, and no other", () => {
  const rows = readFileSync("docs/settings.md", "utf8").matchAll(/^\| `([A-Z_]+)` +\|/gm);

  expect(new Set([...rows].map(([, name]) => name))).toEqual(new Set(SETTINGS));
});

test.each(["package.json", "docs/operating.md"])(
  "the file %s starts the server with the options that the packages and the benches use",
  (file) => {
    const [, options = ""] =
      /\bnode (.*?) --import \.\/scripts\/need-node\.mjs packages\/local\/src\/server\/main\.ts/.exec(
        readFileSync(file, "utf8"),
      ) ?? [];

    expect(options.split(" ")).toEqual(NODE_OPTIONS);
  },
);

// The product stands on the packages that were asked for: each does its work in a file, and is not only installed.

const STACK = [
  "@aws-sdk/client-dynamodb",
  "@aws-sdk/lib-dynamodb",
  "@aws-sdk/client-sqs",
  "@aws-sdk/client-s3",
  "@aws-sdk/s3-request-presigner",
  "@middy/core",
  "@middy/http-json-body-parser",
  "@aws-lambda-powertools/logger",
  "@aws-lambda-powertools/metrics",
  "sst",
  "aws-cdk-lib",
  "valibot",
  "vitest",
];

const rows = [
  ...readFileSync("docs/architecture.md", "utf8").matchAll(/^\| `?([@\w/-]+)`? +\| `(\S+)` +\|/gm),
].map(([, name = "", file = ""]) => ({ name, file }));

test("docs/architecture.md names the file that uses each requested package", () => {
  expect(STACK.filter((name) => !rows.some((row) => row.name === name))).toEqual([]);
});

test.each(rows)("the file $file uses the package $name", ({ name, file }) => {
  const source = readFileSync(file, "utf8");
  const isImported = new RegExp(`from "${RegExp.escape(name)}(?:/[^"]*)?"`).test(source);
  // SST's configuration names no module: its command gives it the globals.
  const isConfigured = name === "sst" && source.includes("$config(");

  expect(isImported || isConfigured).toBe(true);
});
