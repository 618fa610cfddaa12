// npx node infra/bundle-lambdas.ts FOLDER bundles every Lambda into FOLDER/<name>/<handler's path>.mjs, which SST zips.
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { BUNDLE, withoutTokens } from "../packages/functions/bundle.ts";
import { listEntries } from "../packages/functions/entries.ts";
import { lambdas } from "./topology.ts";

const [, , folder] = process.argv;
if (!folder || folder.startsWith("-")) {
  process.stderr.write("Usage: npx node infra/bundle-lambdas.ts FOLDER\n");
  process.exit(2);
}

listEntries("http", "workers");
const { outputFiles } = await build({
  ...BUNDLE,
  plugins: [...(process.env["OAUTH_ISSUER"] ? [] : [withoutTokens]), ...BUNDLE.plugins],
  entryPoints: lambdas.map(({ name, handler }) => {
    const file = handler.replace(/\.handler$/, "");
    return { in: `${file}.ts`, out: `${name}/${file}` };
  }),
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  write: false,
});

const read = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};

// Another process may read or fill the same folder: a file that is up to date stays, and a rename replaces each other file whole.
for (const { path, contents } of outputFiles) {
  if (read(path)?.equals(contents)) continue;
  const draft = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
const made = new Set(outputFiles.map(({ path }) => path));
for (const file of globSync(join(folder, "**/*.mjs"))) if (!made.has(resolve(file))) rmSync(file);
