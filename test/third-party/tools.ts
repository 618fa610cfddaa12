import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

// Where scripts/fetch-third-party.sh keeps each tool: under the hash of the text that names its versions.

const FILES = {
  java_generators: "generators/java/pom.xml",
  go_generators: "generators/go/go.sum",
  porcupine: "porcupine/main.go",
  actionlint: "actionlint/go.sum",
} as const;

type Packaged =
  | "python"
  | "joserfc"
  | "checkdmarc"
  | "parsedmarc"
  | "pyevp"
  | "python_generators"
  | "zizmor"
  | "newman"
  | "runtime_client"
  | "vendor_sdks"
  | "vendor_sdks_py";

export type Tool = keyof typeof FILES | Packaged;

const {
  XDG_CACHE_HOME: caches = join(homedir(), ".cache"),
  THIRD_PARTY_DIR: folder = join(caches, "mailproof", "third-party"),
} = process.env;

const readTool = (path: string): string =>
  readFileSync(join(import.meta.dirname, "tools", path), "utf8");

const readVersions = (tool: Tool): string => {
  if (tool in FILES) return readTool(FILES[tool as keyof typeof FILES]);
  const lines = readTool("packages.txt").split("\n");
  return `${lines.find((line) => line.startsWith(`${tool} `))}\n`;
};

export const getToolFolder = (tool: Tool): string => {
  const hash = createHash("sha256").update(readVersions(tool)).digest("hex");
  return join(folder, `${tool}-${hash.slice(0, 12)}`);
};

/** Null: it is there. */
export const findToolAbsence = (tool: Tool): string | null =>
  existsSync(getToolFolder(tool))
    ? null
    : `scripts/fetch-third-party.sh has not fetched ${tool.replace("_", " ")}`;
