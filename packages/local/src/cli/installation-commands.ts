import { execFileSync } from "node:child_process";
import * as v from "valibot";
import manifest from "../../package.json" with { type: "json" };
import { DEFAULTS, SETTINGS } from "../environment.ts";
import { BUILD_COMMIT, isClone, readLicences } from "../installation.ts";
import { maskSecret } from "../storage/running-settings.ts";
import { definePrinted } from "./define-admin.ts";
import { defineCommand } from "./define-command.ts";
import { findJudged } from "./judged-settings.ts";

/** The secrets that the server generates when no setting provides them: secrets.json contains them, or the state determines them. */
const GENERATED: readonly string[] = ["KEY_PEPPER", "CURSOR_SECRET", "SEALING_KEY", "ACTIVITY_KEY"];

/** `mailproof config show`: prints every setting of the running server, or else of the next start. */
export const configCommand = definePrinted(
  {
    options: v.strictObject({}),
  },
  async ({ environment: { MAILPROOF_DIR } }) => {
    const judged = findJudged(MAILPROOF_DIR, process.env);
    return { output: SETTINGS.map((name) => toRow(name, judged[name])) };
  },
);

const toRow = (name: string, value: string | undefined) => ({
  name,
  value: value === undefined ? (DEFAULTS[name] ?? null) : maskSecret(name, value),
  default: DEFAULTS[name] ?? null,
  source: findSource(name, value),
});

const findSource = (name: string, value: string | undefined): string => {
  if (value !== undefined) return "environment";
  if (GENERATED.includes(name)) return "generated";
  return DEFAULTS[name] === undefined ? "unset" : "default";
};

export const licencesCommand = defineCommand({
  options: v.strictObject({}),
  run: async () => {
    process.stdout.write(readLicences());
    return 0;
  },
});

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
