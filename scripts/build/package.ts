import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";
import { buildDashboard } from "../../packages/dashboard/build.ts";
import { inlineBuiltModules } from "../../packages/functions/bundle.ts";
import { DASHBOARD } from "../../packages/local/src/server/dashboard-build.ts";
import { NODE_OPTIONS } from "../node-options.ts";

export const PROGRAM = "mailproof.cjs";
export const LICENCES = "LICENCES.txt";

const STARTED_THREAD = /\bstartThread\(\s*new URL\("\.\/([\w-]+\.ts)"/g;

/** Modules that run in a thread of their own are files of their own (packages/local/src/installation.ts). */
const THREADS = globSync("packages/local/src/**/*.ts").flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(STARTED_THREAD)].map(([, name = ""]) =>
    join(dirname(file), name),
  ),
);
export const THREAD_FILES = THREADS.map((file) => `${basename(file, ".ts")}.cjs`);

/** An older Node cannot load the program, so this stands before its imports. */
const NODE_CHECK = `if (Number(process.versions.node.split(".")[0]) < 24) {
  console.error("Mailproof needs Node 24 or newer; this is " + process.version + ".");
  process.exit(1);
}`;

const README = `# Mailproof

Checks whether email addresses can receive mail, and whether a domain is set up to send it: a server, and a command line.

\`\`\`sh
mailproof start                      # the server; it prints its address, its keys and commands to try
mailproof verify ada@example.com     # one address, without the server
mailproof --help
\`\`\`

The state is in \`.local\` of the folder where it starts, or in \`MAILPROOF_DIR\`. The manual is at \`/docs\` of the server.
`;

/** The server and all commands as plain JavaScript: a folder that npm can pack. */
export const writePackage = async (folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  // CommonJS, since the executable can load nothing else.
  const { metafile } = await build({
    entryPoints: ["packages/local/src/cli/cli.ts", ...THREADS],
    entryNames: "[name]",
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node24",
    mainFields: ["module", "main"],
    legalComments: "none",
    define: { "import.meta.url": "moduleUrl", COMMIT_OF_BUILD: JSON.stringify(readCommit()) },
    banner: { js: `const moduleUrl = require("node:url").pathToFileURL(__filename).href;` },
    outExtension: { ".js": ".cjs" },
    outdir: folder,
    plugins: [inlineBuiltModules],
    metafile: true,
  });
  renameSync(join(folder, "cli.cjs"), join(folder, PROGRAM));
  const bundled = readFileSync(join(folder, PROGRAM), "utf8");
  const shebang = `#!/usr/bin/env -S node ${NODE_OPTIONS.join(" ")}`;
  writeFileSync(join(folder, PROGRAM), `${shebang}\n${NODE_CHECK}\n${bundled}`);
  chmodSync(join(folder, PROGRAM), 0o755);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(createManifest(), null, 2)}\n`);
  const dashboard = await buildDashboard();
  writeFileSync(join(folder, DASHBOARD), JSON.stringify(dashboard));
  const inputs = [...Object.keys(metafile.inputs), ...dashboard.packages.map(toFolder)];
  writeFileSync(join(folder, LICENCES), joinLicences(inputs));
  writeFileSync(join(folder, "README.md"), README);
  copyFileSync("LICENSE", join(folder, "LICENSE"));
};

const toFolder = (name: string): string => `node_modules/${name}`;

/** Null: the sources come without their repository. */
const readCommit = (): string | null => {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return null;
  }
};

const createManifest = (): object => {
  const { version, description, license } = JSON.parse(
    readFileSync("package.json", "utf8"),
  ) as Readonly<Record<string, string>>;
  return {
    name: "mailproof",
    version,
    description,
    license,
    engines: { node: ">=24.0.0" },
    bin: { mailproof: PROGRAM },
    files: [PROGRAM, ...THREAD_FILES, DASHBOARD, LICENCES],
  };
};

/** With a line between them. */
export const joinTexts = (texts: readonly string[]): string =>
  texts.join(`\n${"-".repeat(80)}\n\n`);

/** The licences of what is in the bundle, in their own words, as they ask for; and the page about lists and data. */
const joinLicences = (inputs: readonly string[]): string => {
  const folders = new Set(
    inputs.flatMap((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  const texts = [...folders].toSorted().map((folder) => {
    const [file] = globSync(join(folder, "{LICEN[CS]E,LICEN[CS]E.*,license*}"));
    if (!file || !existsSync(file)) throw new Error(`${folder} has no text of its licence`);
    return `${folder.slice("node_modules/".length)}\n\n${readFileSync(file, "utf8")}`;
  });
  return joinTexts([readFileSync("docs/licences.md", "utf8"), ...texts]);
};
