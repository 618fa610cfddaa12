// The client for TypeScript as packages/client/built.json, from which every server makes the package of npm.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { findTools } from "../tools.ts";

const HOME = "packages/client";

/** Enough for every Node, Deno, Bun and browser that is still looked after. */
const TARGET = "es2022";

export const bundleClient = async (minify: boolean): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [`${HOME}/src/index.ts`],
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: TARGET,
    minify,
    write: false,
  });
  return outputFiles[0]?.text ?? "";
};

/** The declarations of every module but types.ts, which is one already. */
const buildDeclarations = (): Readonly<Record<string, string>> => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-client-"));
  try {
    const options = ["-p", `${HOME}/tsconfig.build.json`, "--outDir", folder];
    execFileSync(join(findTools(), "tsc"), options, { stdio: "inherit" });
    const names = readdirSync(folder).filter((name) => name !== "types.d.ts");
    return Object.fromEntries(
      names.toSorted().map((name) => [name, readFileSync(join(folder, name), "utf8")]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** The package's own manifest, without the fields that only a workspace understands. */
const buildManifest = (): object => {
  const {
    private: _,
    exports: __,
    ...fields
  } = JSON.parse(readFileSync(`${HOME}/package.json`, "utf8")) as Record<string, unknown>;
  return {
    ...fields,
    exports: {
      ".": { types: "./index.d.ts", default: "./index.js" },
      "./package.json": "./package.json",
    },
    types: "./index.d.ts",
    sideEffects: false,
  };
};

export const BUILT = `${HOME}/built.json`;

export const buildClient = async (): Promise<string> => {
  const files = {
    "package.json": `${JSON.stringify(buildManifest(), null, 2)}\n`,
    "index.js": await bundleClient(false),
    ...buildDeclarations(),
  };
  return `${JSON.stringify(files, null, 2)}\n`;
};
