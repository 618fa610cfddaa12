import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { BuildOptions, Plugin } from "esbuild";

/** A module called *.built.ts is data: it is run when a bundle is made, and what it exports stands there written out. */
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

/** What `describe` says beside a field is for the document and for the tools, which are built ahead; a `why` is for the manual. */
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

/** From the last call to the first: those within another are done before it. */
export const dropDescriptions = (source: string): string => {
  let text = source.replaceAll(WHY, "");
  for (let at = text.lastIndexOf(CALL); at > 0; at = text.lastIndexOf(CALL, at - 1)) {
    const end = endOfCall(text, at + CALL.length);
    const schema = text.slice(at + CALL.length, end).replace(/,\s*"(?:[^"\\]|\\.)*",?\s*$/, "");
    text = `${text.slice(0, at)}(${schema}${text.slice(end)}`;
  }
  return text;
};

/** Where the bracket closes that is open at this place. What stands in strings is no bracket. */
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

/** How a Lambda's entry becomes one file. Whoever deploys it and whoever weighs it use the same options. */
export const BUNDLE = {
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  target: "node24",
  // What packages publish for bundlers first: of the older form nothing can be left out.
  mainFields: ["module", "main"],
  alias: {
    "node:http": resolveHere("src/node-http-stub.ts"),
    "@modelcontextprotocol/server/_shims": resolveHere("src/ajv-stub.ts"),
  },
  plugins: [inlineBuiltModules, withoutDescriptions],
  // dns-packet is of that older form, and asks Node for its modules by a function that an ES module does not have.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const satisfies BuildOptions;
