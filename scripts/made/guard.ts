// Builds packages/guard as a script and as a module. Pages name the hash of what they include, so the bytes of a version never change: another source needs another VERSION.
import { createHash } from "node:crypto";
import { build } from "esbuild";

/** Browsers since the autumn of 2022. An older one runs none of it, and its form is sent as without it. */
const TARGET = ["chrome106", "firefox106", "safari16"];

const bundle = async (entry: string, format: "iife" | "esm"): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [`packages/guard/src/${entry}.ts`],
    bundle: true,
    minify: true,
    format,
    target: TARGET,
    write: false,
  });
  return outputFiles[0]?.text ?? "";
};

export const buildGuard = async () => {
  const [script, module] = await Promise.all([bundle("script", "iife"), bundle("guard", "esm")]);
  const hash = createHash("sha384").update(script).digest("base64");
  return { script, module, integrity: `sha384-${hash}` };
};

export const BUILT = "packages/guard/src/built.ts";

export const formatGuard = async (): Promise<string> => {
  const { script, module, integrity } = await buildGuard();
  return `// Made by scripts/write.ts.
import { VERSION } from "./version.ts";

export const SCRIPT_PATH = \`/guard-\${VERSION}.js\`;
export const SCRIPT_INTEGRITY =
  ${JSON.stringify(integrity)};
export const SCRIPT = ${JSON.stringify(script)};

export const MODULE_PATH = \`/guard-\${VERSION}.mjs\`;
export const MODULE = ${JSON.stringify(module)};
`;
};
