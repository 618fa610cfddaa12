import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Lambda } from "./topology.ts";

// SST has a bundler of its own. It takes neither our options nor what they stand in for (packages/functions/bundle.ts),
// and keeps the names of all functions, so what it makes is larger and starts later than what we weigh. In a live
// session it may: there its bundles run on the developer's machine, and begin at the entries that are written for it.

const folder = join($cli.paths.root, ".cache/lambdas", $app.stage);

execFileSync(
  "npm",
  ["run", "--silent", ...($dev ? ["infra:entries"] : ["infra:bundle", "--", folder])],
  {
    cwd: $cli.paths.root,
    stdio: ["ignore", "ignore", "inherit"],
  },
);

/** What is zipped for a Lambda, where SST should not bundle. */
export const getBundle = ({ name }: Lambda) => ($dev ? {} : { bundle: join(folder, name) });
