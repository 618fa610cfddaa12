import { fileURLToPath } from "node:url";
import type { BuildOptions, Plugin } from "esbuild";

/** A module called *.built.ts is data: it is run when a bundle is made, and what it exports stands there written out. */
const builtAhead: Plugin = {
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

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

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
    "node:http": here("src/node-http.ts"),
    "@modelcontextprotocol/server/_shims": here("src/no-validator.ts"),
  },
  plugins: [builtAhead],
  // dns-packet is of that older form, and asks Node for its modules by a function that an ES module does not have.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const satisfies BuildOptions;
