import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BuildOptions, Plugin } from "esbuild";
import { dropDescriptions, dropTexts, dropUnreadErrors, inlineKeys } from "./source-edits.ts";
import { packTexts } from "./src/packed-texts.ts";

/** Replaces the text of the modules whose path matches. */
const replaceModules = (
  name: string,
  filter: RegExp,
  write: (path: string) => Promise<string> | string,
): Plugin => ({
  name,
  setup: (build) => {
    build.onLoad({ filter }, async ({ path }) => ({
      contents: await write(path),
      loader: path.endsWith(".json") ? "json" : path.endsWith(".ts") ? "ts" : "js",
    }));
  },
});

const editModules = (
  name: string,
  filter: RegExp,
  edit: (path: string, source: string) => string,
): Plugin => replaceModules(name, filter, async (path) => edit(path, await readFile(path, "utf8")));

/** A *.built.ts module is data: the bundler runs it and writes out the values that it exports. */
export const inlineBuiltModules = replaceModules("built ahead", /\.built\.ts$/, async (path) => {
  const exported = (await import(path)) as Readonly<Record<string, unknown>>;
  const lines = Object.entries(exported).map(
    ([name, value]) => `export const ${name} = ${JSON.stringify(value)};`,
  );
  return lines.join("\n");
});

/** A bundle carries all of a list, so this one names the repairs only: without workers, the reconciler is a quarter smaller. */
const withKindsOnly = replaceModules(
  "with kinds only",
  /\/core\/src\/background\/kinds\.ts$/,
  async () => {
    const work = await import("@mailproof/core/background/work");
    const names = Object.entries(work).flatMap(([name, one]) => ("repair" in one ? [name] : []));
    const all = names.join(", ");
    return `import { ${all} } from "./work.ts"; export const kinds = [${all}];`;
  },
);

/** A client of AWS's SDK reads its own version from its package.json, which is 2 KB. */
const withVersionsOnly = editModules(
  "with versions only",
  /\/@aws-sdk\/[^/]+\/package\.json$/,
  (_path, source) => JSON.stringify({ version: JSON.parse(source).version }),
);

/** Texts beside data: docs/scores.md prints a `why`, and a test reads the `example` of a reply rule. */
const TEXTS: readonly (readonly [files: RegExp, property: string])[] = [
  [/\/core\/src\/verify\/retry\.ts$/, "why"],
  [/\/mail\/src\/smtp\/reply-rules\/(?!quotes|rules)[\w-]+\.ts$/, "example"],
];

/** The texts of `describe` are for the reference and the tools, which are built ahead. */
const withoutTexts = editModules(
  "without texts",
  /\/packages\/(?:(?:api|core)\/src|mail\/src\/smtp\/reply-rules)\/.*\.ts$/,
  (path, source) =>
    TEXTS.filter(([files]) => files.test(path)).reduce(
      (text, [, property]) => dropTexts(path, text, property),
      dropDescriptions(path, source),
    ),
);

/** The errors whose fields the code reads: dynamo-table.ts reads the items of these errors. */
const READ_ERRORS: Readonly<Record<string, readonly string[]>> = {
  dynamodb: ["ConditionalCheckFailedException", "TransactionCanceledException"],
};
const SCHEMAS = /\/@aws-sdk\/client-(\w+)\/dist-es\/schemas\/\w+\.js$/;

const withUsedSchemas = editModules("with used schemas", SCHEMAS, (path, source) => {
  const [, service = ""] = SCHEMAS.exec(path) ?? [];
  return dropUnreadErrors(path, inlineKeys(path, source), READ_ERRORS[service] ?? []);
});

const LISTS_MODULE = /\/mail\/src\/lists\/(?:data\/[\w-]+|edition)\.ts$/;

/** A deployment contains the edition of the lists in LISTS_FILE instead of this tree's edition (docs/lists.md). */
const withListsFile: Plugin = {
  name: "with the lists of a file",
  setup: (build) => {
    const { LISTS_FILE: file } = process.env;
    if (!file) return;
    const modules = readListsModules(file);
    build.onLoad({ filter: LISTS_MODULE }, async ({ path }) => ({
      contents: (await modules).get(basename(path)) ?? "",
    }));
  },
};

/** A deployment contains the operator's changes to the lists with any edition (docs/lists.md). */
const withListChanges: Plugin = {
  name: "with the operator's changes to the lists",
  setup: (build) => {
    const { LIST_CHANGES_FILE: file } = process.env;
    if (!file) return;
    build.onLoad({ filter: /\/functions\/src\/list-changes\.ts$/ }, async () => {
      const { parseListChanges } = await import("@mailproof/mail/lists/changes");
      const changes = parseListChanges(await readFile(file, "utf8"));
      return { contents: `export const LIST_CHANGES = ${JSON.stringify(changes)};` };
    });
  },
};

/** Returns the modules by the names of the modules that they replace. Checks the file as `admin lists update` does. */
export const readListsModules = async (file: string): Promise<ReadonlyMap<string, string>> => {
  const { readEdition } = await import("@mailproof/mail/lists/edition-file");
  const { LISTS_PUBLIC_KEY } = await import("@mailproof/mail/lists/public-key");
  const { pack, readDomains } = await import("@mailproof/mail/lists/pack");
  const { findOrigin, packOrigins } = await import("@mailproof/mail/lists/origins");
  const key = process.env["LISTS_SIGNER"] ?? LISTS_PUBLIC_KEY;
  const { version, lists } = await readEdition(await readFile(file), key, async () => undefined);
  const write = (name: keyof typeof lists): string => {
    const { list, source, version: of, entries, sha256 } = lists[name];
    const packed = pack(readDomains(lists[name]));
    return `export const ${name} = ${JSON.stringify({ list, source, version: of, entries, sha256, packed })};`;
  };
  const domains = readDomains(lists.disposable);
  const origins = packOrigins(domains.map((domain) => findOrigin(domain)));
  return new Map([
    ["origins.ts", `export const origins = ${JSON.stringify(origins)};`],
    ["edition.ts", `export const EDITION = ${JSON.stringify(version)};`],
    ["disposable.ts", write("disposable")],
    ["broad.ts", write("broad")],
    ["free.ts", write("free")],
    ["rare-endings.ts", write("rareEndings")],
  ]);
};

/** A process of its own builds the dashboard, since the builder changes the environment of its process. */
const withDashboard = replaceModules(
  "with the dashboard",
  /\/functions\/src\/dashboard-files\.ts$/,
  async () => `export const PACKED_FILES = ${JSON.stringify(packTexts(await buildDashboard()))};`,
);

const buildDashboard = async (): Promise<Readonly<Record<string, string>>> => {
  const script = resolveHere("../dashboard/build.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 25 });
  const { files } = JSON.parse(stdout) as { files: Readonly<Record<string, { text: string }>> };
  return Object.fromEntries(Object.entries(files).map(([path, { text }]) => [path, text]));
};

/** jose reads access tokens alone: a stage that trusts no issuer of them carries none of it. */
export const withoutTokens = replaceModules(
  "without tokens",
  /\/net\/src\/token-verifier\.ts$/,
  () => `export const createTokenVerifier = () => {
  throw new Error("OAUTH_ISSUER was not set when this Lambda was bundled: deploy again.");
};`,
);

const resolveHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The options that bundle a Lambda's entry into one file, for the deployment and for the test of the bundle's size. */
export const BUNDLE = {
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  target: "node24",
  // ES modules first, because a bundler can drop unused parts only of ES modules.
  mainFields: ["module", "main"],
  alias: {
    "node:http": resolveHere("src/node-http-stub.ts"),
    "@modelcontextprotocol/server/_shims": resolveHere("src/sdk-stubs.ts"),
    "@aws-sdk/credential-provider-node": resolveHere("src/sdk-stubs.ts"),
    "@aws-sdk/middleware-endpoint-discovery": resolveHere("src/sdk-stubs.ts"),
    "@smithy/core/event-streams": resolveHere("src/sdk-stubs.ts"),
  },
  plugins: [
    inlineBuiltModules,
    withKindsOnly,
    withoutTexts,
    withVersionsOnly,
    withUsedSchemas,
    withListsFile,
    withListChanges,
    withDashboard,
  ],
  // dns-packet is a CommonJS module: it calls require, which an ES module lacks.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const satisfies BuildOptions;
