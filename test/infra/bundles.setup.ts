import { execFileSync } from "node:child_process";

/** The bundles of the permanent stages, which differ in their settings alone. */
export const BUNDLES = ".cache/lambdas/permanent";

/** Makes them before the first synthesis; each synthesis would take ten seconds of processor time to make its own. */
export const setup = (): void => {
  execFileSync(process.execPath, ["scripts/bundle-lambdas.ts", BUNDLES]);
};
