import type { BuildOptions } from "esbuild";

/** How a Lambda's entry becomes one file. Whoever deploys it and whoever weighs it use the same options. */
export const BUNDLE = {
  bundle: true,
  minify: true,
  platform: "node",
  format: "esm",
  target: "node24",
  // What packages publish for bundlers first: of the older form nothing can be left out.
  mainFields: ["module", "main"],
  // dns-packet is of that older form, and asks Node for its modules by a function that an ES module does not have.
  banner: {
    js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
  },
} as const satisfies BuildOptions;
