// npx node scripts/bundle-lambdas.ts FOLDER makes the file of every Lambda, as SST zips it: FOLDER/<name>/<handler's path>.mjs.
import { rmSync } from "node:fs";
import { build } from "esbuild";
import { lambdas } from "../infra/topology.ts";
import { BUNDLE } from "../packages/functions/bundle.ts";
import { writeEntries } from "../packages/functions/entries.ts";

const [, , folder] = process.argv;
if (!folder) throw new Error("Into which folder?");

writeEntries();
rmSync(folder, { recursive: true, force: true });
await build({
  ...BUNDLE,
  entryPoints: lambdas.map(({ name, handler }) => {
    const file = handler.replace(/\.handler$/, "");
    return { in: `${file}.ts`, out: `${name}/${file}` };
  }),
  outdir: folder,
  outExtension: { ".js": ".mjs" },
});
