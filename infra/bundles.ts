import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Lambda } from "./topology.ts";

// SST's own bundler takes neither the options nor the stubs of packages/functions/bundle.ts and keeps all function
// names, so its bundles are larger and start later than those whose size is tested. A live session uses it: there the bundles
// run on the developer's machine, from the entries generated for it.

const folder = join($cli.paths.root, ".cache/lambdas", $app.stage);

// The project's own Node runs the build, whichever Node runs SST.
execFileSync(
  "npx",
  ["node", ...($dev ? ["packages/functions/entries.ts"] : ["scripts/bundle-lambdas.ts", folder])],
  {
    cwd: $cli.paths.root,
    stdio: ["ignore", "ignore", "inherit"],
  },
);

/** The folder that is zipped for a Lambda when SST does not bundle. */
export const getBundle = ({ name }: Lambda) => ($dev ? {} : { bundle: join(folder, name) });
