import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import type { Reply } from "./synthesiser.ts";

// What sst.config.ts makes of a stage (synthesis.ts), bundled as SST bundles it. One process (synthesiser.ts) makes all stages that the
// files of a worker ask for.

export type Made = {
  readonly type: string;
  readonly name: string;
  // biome-ignore lint: what a resource is made of differs from kind to kind.
  readonly inputs: Record<string, any>;
  /** Null for a type without tags. */
  readonly tags: Readonly<Record<string, string>> | null;
};
export type Synthesis = {
  readonly app: Record<string, unknown>;
  readonly made: readonly Made[];
  /** Handlers that were bundled. */
  readonly built: readonly string[];
  /** What the command line of a live session has to run, once for each Lambda. */
  readonly targets: readonly Target[];
};

export type Request = {
  /** The bundle of synthesis.ts. */
  readonly program: string;
  readonly stage: string;
  readonly command: "deploy" | "dev";
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the stage makes the bundles of its Lambdas. */
  readonly bundles: boolean;
  /** A folder without files, which SST zips in place of each bundle. */
  readonly empty: string;
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
  SST_SECRET_OidcClientSecret: "a client's secret for the tests",
  SST_SECRET_SmtpProxies: "socks5://user:pass@192.0.2.1:1080",
};

/** What `npm run deploy` reads from an account that AWS opened yesterday. */
const NEW_ACCOUNT = { CONCURRENCY_QUOTA: "10" };

/** The bundles of this stage are made: those of another one would differ in nothing, and take ten seconds of processor time. */
const BUNDLED = "ada";
const BUNDLING = /^execFileSync\([\s\S]*?^\);$/m;

const withoutBundles: Plugin = {
  name: "without bundles",
  setup: (build) => {
    build.onLoad({ filter: /\/infra\/bundles\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      if (!BUNDLING.test(source)) throw new Error(`${path} bundles in another way`);
      return { contents: source.replace(BUNDLING, "void execFileSync;"), loader: "ts" };
    });
  },
};

const programs = new Map<boolean, Promise<string>>();

const buildProgram = async (bundles: boolean): Promise<string> => {
  const program = resolve(PLATFORM, `synthesis-${process.pid}-${bundles}.mjs`);
  process.once("exit", () => rmSync(program, { force: true }));
  await build({
    entryPoints: ["test/infra/synthesis.ts"],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node24",
    packages: "external",
    plugins: bundles ? [] : [withoutBundles],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  });
  return program;
};

const getProgram = (bundles: boolean): Promise<string> => {
  const program = programs.get(bundles) ?? buildProgram(bundles);
  programs.set(bundles, program);
  return program;
};

let synthesiser: { readonly child: ChildProcess; readonly ended: Promise<never> } | undefined;

/** It ends with this process. Pulumi reads the stack of each promise: with ten lines each that takes a fifth of the time. */
const startSynthesiser = () => {
  const child = fork(join(import.meta.dirname, "synthesiser.ts"), {
    execArgv: ["--stack-trace-limit=1"],
  });
  child.unref();
  child.channel?.unref();
  const ended = once(child, "exit").then(() => {
    throw new Error("the process that makes stages has ended");
  });
  return { child, ended };
};

/** `settings`: what the deployer's environment, or .env.<stage>, says. */
export const synthesise = async (
  stage: string,
  settings: Readonly<Record<string, string>> = {},
  command: Request["command"] = "deploy",
): Promise<Synthesis> => {
  const bundles = stage === BUNDLED;
  const empty = resolve(".cache/empty");
  mkdirSync(empty, { recursive: true });
  const env = { ...process.env, ...SECRETS, AWS_REGION: "eu-west-1", ...NEW_ACCOUNT, ...settings };
  const request = { program: await getProgram(bundles), stage, command, env, bundles, empty };
  synthesiser ??= startSynthesiser();
  const { child, ended } = synthesiser;
  const replied = once(child, "message");
  child.send(request);
  const [reply] = (await Promise.race([replied, ended])) as [Reply];
  if ("error" in reply) throw new Error(reply.error);
  return reply.synthesis;
};
