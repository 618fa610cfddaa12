import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TREE } from "../server.ts";

// Another commit of this repository beside this tree, installed as its own lock file says.

const run = (command: string, args: readonly string[], cwd: string): string => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0)
    throw new Error(
      `${command} ${args.join(" ")} failed: ${error?.message ?? `${stdout}${stderr}`}`,
    );
  return stdout.trim();
};

/** The full hash of a commit that this clone has. */
export const findCommit = (revision: string): string =>
  run("git", ["rev-parse", "--verify", `${revision}^{commit}`], TREE);

export type Checkout = { readonly tree: string; readonly remove: () => void };

export const checkOut = (commit: string): Checkout => {
  const tree = mkdtempSync(join(tmpdir(), "mailproof-against-"));
  const remove = (): void => {
    rmSync(tree, { recursive: true, force: true });
    spawnSync("git", ["worktree", "prune"], { cwd: TREE });
  };
  try {
    run("git", ["worktree", "add", "--detach", tree, commit], TREE);
    run("npm", ["ci"], tree);
    return { tree, remove };
  } catch (error) {
    remove();
    throw error;
  }
};
