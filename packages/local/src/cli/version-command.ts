import { execFileSync } from "node:child_process";
import * as v from "valibot";
import manifest from "../../package.json" with { type: "json" };
import { BUILD_COMMIT, isClone } from "../installation.ts";
import { definePrinted } from "./define-admin.ts";

/** `mailproof version`: the facts for a report of a fault. */
export const versionCommand = definePrinted(
  {
    options: v.strictObject({}),
  },
  async () => ({
    output: {
      version: manifest.version,
      commit: isClone ? readCommit() : BUILD_COMMIT,
      node: process.versions.node,
      sqlite: process.versions["sqlite"] ?? null,
    },
  }),
);

const readCommit = (): string | null => {
  try {
    const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
    const options = { cwd: import.meta.dirname, encoding: "utf8", stdio } as const;
    return execFileSync("git", ["rev-parse", "HEAD"], options).trim();
  } catch {
    return null;
  }
};
