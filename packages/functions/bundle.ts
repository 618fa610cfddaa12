import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BuildOptions, Plugin } from "esbuild";
import { packTexts } from "./src/packed-texts.ts";

/** A *.built.ts module is data: the bundler runs it and writes out the values that it exports. */
export const inlineBuiltModules: Plugin = {
  name: "built ahead",
  setup: (build) => {
    build.onLoad({ filter: /\.built\.ts$/ }, async ({ path }) => {
      const exported = (await import(path)) as Readonly<Record<string, unknown>>;
      const lines = Object.entries(exported).map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)};`,
      );
      return { contents: lines.join("\n") };
    });
  },
};

/** A client of AWS's SDK reads its own version from its package.json, which is 2 KB. */
const withVersionsOnly: Plugin = {
  name: "with versions only",
  setup: (build) => {
    build.onLoad({ filter: /\/@aws-sdk\/[^/]+\/package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, "utf8")) as { version: string };
      return { contents: JSON.stringify({ version }), loader: "json" };
    });
  },
};

/**
 * The texts of `describe` are for the document and the tools, which are built ahead; a `why` and an `addition` are for the
 * manual, and the `example` of a reply rule for its test.
 */
const withoutDescriptions: Plugin = {
  name: "without descriptions",
  setup: (build) => {
    const filter =
      /\/(?:api\/src\/(?:schema|endpoints)\/[^/]+|mail\/src\/smtp\/reply-rules\/[^/]+|core\/src\/(?:webhooks\/[^/]+|verify\/(?:result|retry)))\.ts$/;
    build.onLoad({ filter }, async ({ path }) => ({
      contents: dropDescriptions(await readFile(path, "utf8")),
      loader: "ts",
    }));
  },
};

const CONSTANT = /^const (_\w+) = ("[^"\\\n]*");$/gm;
const COMPUTED_KEY = /\[(_\w+)\]:/g;

/**
 * A client's schemas of all operations are in one file, as literals whose keys are constants of the file. A bundler
 * keeps a literal with a computed key, used or not; with plain keys it keeps those of the operations in use.
 */
const withUsedSchemas: Plugin = {
  name: "with used schemas",
  setup: (build) => {
    build.onLoad(
      { filter: /\/@aws-sdk\/client-\w+\/dist-es\/schemas\/\w+\.js$/ },
      async ({ path }) => ({
        contents: dropUnreadErrors(inlineKeys(await readFile(path, "utf8"))),
      }),
    );
  },
};

export const inlineKeys = (source: string): string => {
  const constants = new Map<string, string>();
  for (const [, name = "", text = ""] of source.matchAll(CONSTANT)) constants.set(name, text);
  return source.replaceAll(COMPUTED_KEY, (key, name: string) => {
    const text = constants.get(name);
    return text === undefined ? key : `${text}:`;
  });
};

/** The errors of which more is read than the code: dynamo-table.ts reads the items in them. */
const READ_ERRORS = ["ConditionalCheckFailedException", "TransactionCanceledException"];
const REGISTERED_ERROR = /^n0_registry\.registerError\((\w+)\$, \1\);\n/gm;

/** An error without a class of its own has the service's class, with the same code, status and message. */
const dropUnreadErrors = (source: string): string =>
  source.replaceAll(REGISTERED_ERROR, (line, name: string) =>
    READ_ERRORS.includes(name) ? line : "",
  );

const CALL = "describe(";
const WHY = /^ *(?:why|example|addition):\s*"(?:[^"\\]|\\.)*",\n/gm;
const STRING = /"(?:[^"\\]|\\.)*"/g;

/** From the last call to the first, so that inner calls are replaced before outer ones. */
export const dropDescriptions = (source: string): string => {
  let text = source.replaceAll(WHY, "");
  for (let at = text.lastIndexOf(CALL); at > 0; at = text.lastIndexOf(CALL, at - 1)) {
    const end = endOfCall(text, at + CALL.length);
    const schema = text.slice(at + CALL.length, end).replace(/,\s*"(?:[^"\\]|\\.)*",?\s*$/, "");
    text = `${text.slice(0, at)}(${schema}${text.slice(end)}`;
  }
  return text;
};

/** The index of the bracket that closes the call. Brackets within strings do not count. */
const endOfCall = (source: string, from: number): number => {
  const plain = source.slice(from).replaceAll(STRING, (found) => " ".repeat(found.length));
  let open = 1;
  for (let at = 0; at < plain.length; at++) {
    if (plain[at] === "(") open++;
    if (plain[at] === ")") open--;
    if (open === 0) return from + at;
  }
  return source.length;
};

const LISTS_MODULE = /\/mail\/src\/lists\/(?:data\/[\w-]+|edition)\.ts$/;

/** A deployment carries the edition of the lists that LISTS_FILE names, instead of the one of this tree (docs/lists.md). */
const withListsFile: Plugin = {
  name: "with the lists of a file",
  setup: (build) => {
    const { LISTS_FILE: file } = process.env;
    if (!file) return;
    const modules = readListsModules(file);
    build.onLoad({ filter: LISTS_MODULE }, async ({ path }) => {
      const name = path.slice(path.lastIndexOf("/") + 1);
      return { contents: (await modules).get(name) ?? "" };
    });
  },
};

/** By the names of the modules that they replace. The file is checked as `admin lists update` checks it. */
export const readListsModules = async (file: string): Promise<ReadonlyMap<string, string>> => {
  const { readEdition } = await import("@mailproof/mail/lists/edition-file");
  const { LISTS_PUBLIC_KEY } = await import("@mailproof/mail/lists/public-key");
  const { pack, readDomains } = await import("@mailproof/mail/lists/pack");
  const key = process.env["LISTS_SIGNER"] ?? LISTS_PUBLIC_KEY;
  const { version, lists } = await readEdition(await readFile(file), key, async () => undefined);
  const write = (name: keyof typeof lists): string => {
    const { list, source, version: of, entries, sha256 } = lists[name];
    const packed = pack(readDomains(lists[name]));
    return `export const ${name} = ${JSON.stringify({ list, source, version: of, entries, sha256, packed })};`;
  };
  return new Map([
    ["edition.ts", `export const EDITION = ${JSON.stringify(version)};`],
    ["disposable.ts", write("disposable")],
    ["broad.ts", write("broad")],
    ["free.ts", write("free")],
    ["rare-endings.ts", write("rareEndings")],
  ]);
};

/** The dashboard is built by a process of its own, since what builds it sets its environment. */
const withDashboard: Plugin = {
  name: "with the dashboard",
  setup: (build) => {
    build.onLoad({ filter: /\/functions\/src\/dashboard-files\.ts$/ }, async () => ({
      contents: `export const PACKED_FILES = ${JSON.stringify(packTexts(await buildDashboard()))};`,
    }));
  },
};

const buildDashboard = async (): Promise<Readonly<Record<string, string>>> => {
  const script = resolveHere("../dashboard/build.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 2 ** 25 });
  const { files } = JSON.parse(stdout) as { files: Readonly<Record<string, { text: string }>> };
  return Object.fromEntries(Object.entries(files).map(([path, { text }]) => [path, text]));
};

const resolveHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** How a Lambda's entry becomes one file. The deployment and the test of its size use the same options. */
export const BUNDLE = {
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  target: "node24",
  // ES modules first: a bundler can drop unused parts of these only.
  mainFields: ["module", "main"],
  alias: {
    "node:http": resolveHere("src/node-http-stub.ts"),
    "@modelcontextprotocol/server/_shims": resolveHere("src/ajv-stub.ts"),
    "@aws-sdk/credential-provider-node": resolveHere("src/credentials-stub.ts"),
    "@smithy/core/event-streams": resolveHere("src/event-streams-stub.ts"),
  },
  plugins: [
    inlineBuiltModules,
    withoutDescriptions,
    withVersionsOnly,
    withUsedSchemas,
    withListsFile,
    withDashboard,
  ],
  // dns-packet is a CommonJS module: it calls require, which an ES module does not have.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const satisfies BuildOptions;
