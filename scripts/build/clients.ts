// Makes the clients that a server has at /docs/clients/. npm run build puts them into what is installed; for this clone:
//
//   npx node scripts/build/clients.ts
//
// npm's package is packages/client; a wheel for Python and a module for Go are generated from the document, by
// generators that scripts/fetch-third-party.sh fetches: what it has not fetched is left out, with a word about it.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { openapi } from "@mailproof/api/openapi/openapi";
import { writeZip } from "@mailproof/core/exports/write-zip";
import {
  GO_MODULE,
  GO_PROXY,
  GO_VERSION,
  NPM_PACKAGE,
  WHEEL,
} from "@mailproof/docs-site/client-programs";
import { CLIENTS_OF_CLONE } from "@mailproof/local/server/client-files";
import { findToolAbsence, getToolFolder, type Tool } from "../../test/third-party/tools.ts";
import { buildClient } from "../build-client.ts";

type Files = Readonly<Record<string, Buffer>>;

const VERSION = GO_VERSION.slice(1);

const run = (command: string, args: readonly string[], cwd: string, env = {}): void =>
  void execFileSync(command, args, { cwd, stdio: "pipe", env: { ...process.env, ...env } });

/** From openapi.json in the folder, at the generator's defaults. */
export const generatePython = (folder: string): void => {
  const bin = join(getToolFolder("python_generators"), "bin");
  const options = ["generate", "--path", "openapi.json", "--output-path", ".", "--overwrite"];
  // It formats with ruff, which it looks for on the path.
  const env = { PATH: `${bin}${delimiter}${process.env["PATH"]}` };
  run(join(bin, "python"), ["-m", "openapi_python_client", ...options], folder, env);
};

/** From openapi.json in the folder: one file of one package. */
export const generateGo = (folder: string, packageName: string, file: string): void => {
  // Without skip-prune it leaves out the schemas that only webhooks refer to, and its own code does not compile.
  const options = ["-generate", "types,client,skip-prune", "-package", packageName, "-o", file];
  run(join(getToolFolder("go_generators"), "oapi-codegen"), [...options, "openapi.json"], folder);
};

/** Compiles with the modules that were fetched with the generator, and needs no network. */
export const buildGo = (folder: string, ...args: readonly string[]): void =>
  run("go", ["build", ...args], folder, {
    GOMODCACHE: join(getToolFolder("go_generators"), "modules"),
    GOFLAGS: "-mod=mod",
    GOPROXY: "off",
  });

const packNpm = async (folder: string): Promise<Files> => {
  const built = join(folder, "built");
  mkdirSync(built);
  await buildClient(built);
  run("npm", ["pack", "./built"], folder);
  const [tarball = ""] = globSync(join(folder, "*.tgz"));
  return { [NPM_PACKAGE]: readFileSync(tarball) };
};

const buildWheel = async (folder: string): Promise<Files> => {
  generatePython(folder);
  copyFileSync("LICENSE", join(folder, "LICENSE"));
  const python = join(getToolFolder("python_generators"), "bin/python");
  const options = ["wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", "built"];
  run(python, ["-m", "pip", ...options, "."], folder);
  return { [WHEEL]: readFileSync(join(folder, "built", WHEEL)) };
};

const GO_TOOLS = "test/third-party/tools/generators/go";

/** What the generated code imports, in the version that was fetched with the generator. */
const readGoRuntime = (): string => {
  const file = readFileSync(join(GO_TOOLS, "go.mod"), "utf8");
  const [, go = ""] = /^(go \S+)$/m.exec(file) ?? [];
  const [, runtime = ""] = /^\t(github\.com\/oapi-codegen\/runtime \S+)$/m.exec(file) ?? [];
  return `${go}\n\nrequire ${runtime}\n`;
};

/** What a proxy of Go has of a module: https://go.dev/ref/mod#goproxy-protocol. */
const buildGoModule = async (folder: string): Promise<Files> => {
  generateGo(folder, basename(GO_MODULE), "client.go");
  writeFileSync(join(folder, "go.mod"), `module ${GO_MODULE}\n\n${readGoRuntime()}`);
  copyFileSync(join(GO_TOOLS, "go.sum"), join(folder, "go.sum"));
  buildGo(folder, ".");
  copyFileSync("LICENSE", join(folder, "LICENSE"));
  const read = (name: string) => readFileSync(join(folder, name));
  const parts = ["LICENSE", "client.go", "go.mod"].map((name) => ({
    name: `${GO_MODULE}@${GO_VERSION}/${name}`,
    pieces: (async function* () {
      yield read(name);
    })(),
  }));
  const zip = Buffer.concat(await Array.fromAsync(writeZip(parts)));
  const at = `${GO_PROXY}/${GO_MODULE}/@v`;
  return {
    [`${at}/list`]: Buffer.from(`${GO_VERSION}\n`),
    [`${at}/${GO_VERSION}.info`]: Buffer.from(JSON.stringify({ Version: GO_VERSION })),
    [`${at}/${GO_VERSION}.mod`]: read("go.mod"),
    [`${at}/${GO_VERSION}.zip`]: zip,
  };
};

type Client = {
  readonly name: string;
  readonly needs: Tool | null;
  readonly build: (folder: string) => Promise<Files>;
};

const CLIENTS: readonly Client[] = [
  { name: "npm's package", needs: null, build: packNpm },
  { name: "the wheel for Python", needs: "python_generators", build: buildWheel },
  { name: "the module for Go", needs: "go_generators", build: buildGoModule },
];

/** The document that they are generated from names its version. */
const writeDocument = (folder: string): void => {
  const document = openapi("http://127.0.0.1:8787");
  const info = { ...(document["info"] as object), version: VERSION };
  writeFileSync(join(folder, "openapi.json"), JSON.stringify({ ...document, info }));
};

/** By path below /docs/clients/. Says what is left out, and why. */
export const buildClients = async (say: (line: string) => void): Promise<Files> => {
  const all: Files[] = [];
  for (const { name, needs, build } of CLIENTS) {
    const absence = needs && findToolAbsence(needs);
    if (absence) {
      say(`${name} is left out: ${absence}.`);
      continue;
    }
    const folder = mkdtempSync(join(tmpdir(), "mailproof-client-"));
    writeDocument(folder);
    all.push(await build(folder));
    rmSync(folder, { recursive: true });
  }
  return Object.assign({}, ...all) as Files;
};

/** As the server reads it. */
export const packFiles = (files: Files): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(files).map(([path, bytes]) => [path, bytes.toString("base64")]),
    ),
  );

if (import.meta.main) {
  const files = await buildClients(console.log);
  mkdirSync(dirname(CLIENTS_OF_CLONE), { recursive: true });
  writeFileSync(CLIENTS_OF_CLONE, packFiles(files));
  for (const [path, { length }] of Object.entries(files)) console.log(`${length}\t${path}`);
}
