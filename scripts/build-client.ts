// Builds packages/client/dist, which is what is published:
//
//   npx node scripts/build-client.ts && npm publish packages/client/dist
import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { findTools } from "./tools.ts";

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

/** Everything that is published, into this folder. */
export const buildClient = async (folder: string): Promise<void> => {
  execFileSync(
    join(findTools(), "tsc"),
    ["-p", `${HOME}/tsconfig.build.json`, "--outDir", folder],
    {
      stdio: "inherit",
    },
  );
  // A package has what was built from the sources, not the sources.
  for (const file of globSync(join(folder, "*.d.ts")))
    writeFileSync(
      file,
      readFileSync(file, "utf8").replaceAll(/(?<=from "\.\/[\w-]+)\.ts"/g, '.js"'),
    );
  writeFileSync(join(folder, "index.js"), await bundleClient(false));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(buildManifest(), null, 2)}\n`);
  copyFileSync(`${HOME}/README.md`, join(folder, "README.md"));
  copyFileSync("LICENSE", join(folder, "LICENSE"));
};

/** The package's own, without what only a workspace understands. */
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
    files: ["index.js", "*.d.ts"],
    sideEffects: false,
  };
};

if (import.meta.main) await buildClient(`${HOME}/dist`);
