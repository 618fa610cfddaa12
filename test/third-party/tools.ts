import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

// Where scripts/fetch-third-party.sh keeps each tool: under the hash of the file that names its version.

const FILES = {
  runtime_client: "runtime-client/package-lock.json",
  newman: "newman/package-lock.json",
  python: "python/requirements.txt",
  dkimpy: "dkimpy/requirements.txt",
  joserfc: "joserfc/requirements.txt",
  parsedmarc: "parsedmarc/requirements.txt",
  checkdmarc: "checkdmarc/requirements.txt",
  pyevp: "pyevp/requirements.txt",
  go_msgauth: "go-msgauth/main.go",
  python_generators: "generators/python/requirements.txt",
  java_generators: "generators/java/pom.xml",
  go_generators: "generators/go/go.sum",
  porcupine: "porcupine/main.go",
  zizmor: "zizmor/requirements.txt",
  actionlint: "actionlint/go.sum",
} as const;

export type Tool = keyof typeof FILES;

const {
  XDG_CACHE_HOME: caches = join(homedir(), ".cache"),
  THIRD_PARTY_DIR: folder = join(caches, "mailproof", "third-party"),
} = process.env;

export const getToolFolder = (tool: Tool): string => {
  const file = join(import.meta.dirname, "tools", FILES[tool]);
  const hash = createHash("sha256").update(readFileSync(file)).digest("hex");
  return join(folder, `${tool}-${hash.slice(0, 12)}`);
};

/** Null: it is there. */
export const findToolAbsence = (tool: Tool): string | null =>
  existsSync(getToolFolder(tool))
    ? null
    : `scripts/fetch-third-party.sh has not fetched ${tool.replace("_", " ")}`;
