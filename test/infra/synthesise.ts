import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, type Plugin } from "esbuild";
import { BUNDLES } from "./bundles.setup.ts";

// What sst.config.ts makes of a stage: a process of its own runs it (synthesis.ts), bundled as SST bundles it, and is over
// when nothing is left to do.

export type Made = {
  readonly type: string;
  readonly name: string;
  // biome-ignore lint: what a resource is made of differs from kind to kind.
  readonly inputs: Record<string, any>;
};
export type Synthesis = {
  readonly app: Record<string, unknown>;
  readonly made: readonly Made[];
  /** Handlers that were bundled. */
  readonly built: readonly string[];
  /** What the command line of a live session has to run, once for each Lambda. */
  readonly targets: readonly Target[];
};

export type Build = { readonly handler: string; readonly bundle?: string };
export type Target = Build & { readonly functionID: string; readonly runtime: string };

/** The components bring a Pulumi of their own. It is found from here. */
const PLATFORM = ".sst/platform";

/** What SST has of `sst secret set`. */
const SECRETS = {
  SST_SECRET_KeyPepper: "a pepper for the tests",
  SST_SECRET_CursorSecret: "a secret for the tests",
  SST_SECRET_ActivityKey: "an activity key for tests",
  SST_SECRET_SealingKey: "a sealing key for the tests",
  SST_SECRET_SmtpProxies: "socks5://user:pass@192.0.2.1:1080",
};

/** What `npm run deploy` reads from an account that AWS opened yesterday. */
const NEW_ACCOUNT = { CONCURRENCY_QUOTA: "10" };

const PERMANENT = /^(?:production|pr-\d+)$/;
const BUNDLING = /^execFileSync\([\s\S]*?^\);$/m;

/** Puts the bundles that are made already in the place of the stage's own. */
const withMadeBundles: Plugin = {
  name: "with made bundles",
  setup: (build) => {
    build.onLoad({ filter: /\/infra\/bundles\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!BUNDLING.test(source)) throw new Error(`${path} bundles in another way`);
      const folder = JSON.stringify(BUNDLES);
      const contents = source
        .replace(BUNDLING, "void execFileSync;")
        .replace(/join\(\$cli\.paths\.root, .*\)/, `join($cli.paths.root, ${folder})`);
      return { contents, loader: "ts" };
    });
  },
};

/** `settings`: what the deployer's environment, or .env.<stage>, says. */
export const synthesise = async (
  stage: string,
  settings: Readonly<Record<string, string>> = {},
  command: "deploy" | "dev" = "deploy",
): Promise<Synthesis> => {
  const program = join(PLATFORM, `synthesis-${process.pid}-${stage}.mjs`);
  const file = `${program}.json`;
  await build({
    entryPoints: ["test/infra/synthesis.ts"],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    packages: "external",
    plugins: PERMANENT.test(stage) && command === "deploy" ? [withMadeBundles] : [],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  const env = { ...process.env, ...SECRETS, AWS_REGION: "eu-west-1", ...NEW_ACCOUNT, ...settings };
  try {
    await promisify(execFile)(process.execPath, [program, stage, command, file], { env });
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    for (const one of [program, file]) rmSync(one, { force: true });
  }
};
