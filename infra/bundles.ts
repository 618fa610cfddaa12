import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Lambda } from "./topology.ts";

// SST's bundler ignores the options and stubs of packages/functions/bundle.ts and keeps all function names, so its bundles are
// larger and start later. Only a live session uses it: its bundles run on the developer's machine.

const folder = join($cli.paths.root, ".cache/lambdas", $app.stage);

// The project's own Node bundles, although SST may run in another.
execFileSync(
  "npx",
  ["node", ...($dev ? ["packages/functions/entries.ts"] : ["infra/bundle-lambdas.ts", folder])],
  {
    cwd: $cli.paths.root,
    stdio: ["ignore", "ignore", "inherit"],
  },
);

/** The folder that is zipped for a Lambda when SST does not bundle. */
export const getBundle = ({ name }: Lambda) => ($dev ? {} : { bundle: join(folder, name) });
