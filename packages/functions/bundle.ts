import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { BuildOptions, Plugin } from "esbuild";

/** A *.built.ts module is data: the bundler runs it and writes out the values that it exports. */
const inlineBuiltModules: Plugin = {
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

/** The texts of `describe` are for the document and the tools, which are built ahead; a `why` is for the manual. */
const withoutDescriptions: Plugin = {
  name: "without descriptions",
  setup: (build) => {
    const filter =
      /\/(?:api\/src\/(?:schema|endpoints)\/[^/]+|core\/src\/(?:webhooks\/[^/]+|verify\/(?:result|retry)))\.ts$/;
    build.onLoad({ filter }, async ({ path }) => ({
      contents: dropDescriptions(await readFile(path, "utf8")),
      loader: "ts",
    }));
  },
};

const CALL = "describe(";
const WHY = /^ *why: "(?:[^"\\]|\\.)*",\n/gm;
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
  },
  plugins: [inlineBuiltModules, withoutDescriptions],
  // dns-packet is a CommonJS module: it calls require, which an ES module does not have.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const satisfies BuildOptions;
