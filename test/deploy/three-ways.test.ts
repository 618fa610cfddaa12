import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { endWithTest } from "../runner/eventually.ts";
import {
  createDebian,
  createFolder,
  findChild,
  findObstacle,
  installNode,
  listLibraries,
  measureSize,
  NAMESPACES,
  NODE_24,
  readRegistry,
  removeRoot,
  runInRoot,
  toWords,
} from "./fresh-root.ts";

// Goal: each of the README's three ways works on a machine that has nothing but what its row asks for. Method: each in a root of
// its own, from its first command to the first verdict; the figures that are printed are those of docs/operating.md.

const MANIFEST = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
const PACKAGE = `mailproof-${MANIFEST.version}.tgz`;
const ADDRESS = "ada.lovelace@valid.lab.mailproof.test";
const HOME = "/srv/mailproof";

/** The Node of README's first row: any that npm works with. */
const OLD_NODE = "/usr/bin/node";

const MOUNTS = `
set -eu
ip link set lo up
mkdir -p "$ROOT/proc" "$ROOT/dev"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
exec chroot "$ROOT" "$@"
`;

/** The server in a network of its own, until it has given its first verdict. */
const whenServing = async (
  root: string,
  words: readonly string[],
  state: string,
): Promise<{ readonly verdict: string; readonly stop: () => Promise<number | null> }> => {
  const env = { PATH: process.env["PATH"] ?? "", ROOT: root };
  const args = [...NAMESPACES, "--net", "sh", "-c", MOUNTS, "sh", ...words];
  const child = spawn("unshare", args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  endWithTest(child);
  const ready = join(root, state, "ready.json");
  while (!existsSync(ready)) {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${log}`);
    await setTimeout(10);
  }
  const { base_url: url, live_key: key } = JSON.parse(readFileSync(ready, "utf8")) as Record<
    string,
    string
  >;
  const pid = findChild(child.pid);
  // curl of this machine, in the network of the server: an empty root has no program that could ask.
  const answer = execFileSync(
    "nsenter",
    ["--target", String(pid), "--net", "curl", "--silent", `${url}/v1/verify`]
      .concat("--header", `X-Api-Key: ${key}`, "--header", "Content-Type: application/json")
      .concat("--data", JSON.stringify({ email: ADDRESS })),
    { encoding: "utf8" },
  );
  const stop = async () => {
    const ended = once(child, "exit");
    process.kill(pid, "SIGTERM");
    const [code] = (await ended) as [number | null];
    return code;
  };
  return { verdict: (JSON.parse(answer) as { data: { status: string } }).data.status, stop };
};

const createTimer = () => {
  const startMs = performance.now();
  return () => `${((performance.now() - startMs) / 1_000).toFixed(1)} s`;
};

/** What a clone without the tools of its tests may weigh (docs/design/tree.md). */
const CLONE_MEGABYTES_MAX = 295;

const report = (way: string, figures: object): void =>
  void process.stdout.write(`${way}: ${JSON.stringify(figures)}\n`);

describeUnless(findObstacle(), "each way to install, in a fresh root", () => {
  const roots: string[] = [];
  const createRoot = (create: () => string): string => {
    const root = create();
    roots.push(root);
    return root;
  };
  beforeAll(() => {
    if (!existsSync(join("dist", PACKAGE)))
      execFileSync("npm", ["run", "build"], { stdio: "inherit" });
  });
  afterAll(() => roots.forEach(removeRoot));

  test("a clone installs and runs with an older Node and npm", async () => {
    const root = createRoot(createDebian);
    installNode(root, OLD_NODE);
    execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${process.cwd()}`, root + HOME]);
    const run = { root, workdir: HOME, env: readRegistry(root) };
    const elapsed = createTimer();
    runInRoot({ ...run, command: ["npm", "ci", "--omit=dev"] });
    const installed = elapsed();

    const words = toWords({ ...run, command: ["npm", "start"] });
    const { verdict, stop } = await whenServing(root, words, `${HOME}/.local`);
    const first = elapsed();

    expect(verdict).toBe("valid");
    await stop();
    const megabytes = measureSize(root + HOME);
    expect(megabytes).toBeLessThanOrEqual(CLONE_MEGABYTES_MAX);
    report("clone", { installed, first, megabytes });
  });

  test("the npm package installs and runs with Node 24 and npm", async () => {
    const root = createRoot(createDebian);
    installNode(root, NODE_24);
    cpSync(join("dist", PACKAGE), join(root, PACKAGE));
    mkdirSync(root + HOME);
    const before = measureSize(root);
    const elapsed = createTimer();
    runInRoot({ root, command: ["npm", "install", "--global", "--offline", `/${PACKAGE}`] });
    const installed = elapsed();

    const words = toWords({ root, workdir: HOME, command: ["mailproof", "start"] });
    const { verdict, stop } = await whenServing(root, words, `${HOME}/.local`);
    const first = elapsed();

    expect(verdict).toBe("valid");
    expect(await stop()).toBe(0);
    report("package", { installed, first, megabytes: measureSize(root) - before });
  });

  test("the executable runs with only the shared libraries that it names", async () => {
    const root = createRoot(createFolder);
    const program = join("dist", "mailproof-linux-x64");
    cpSync(program, join(root, "mailproof"));
    chmodSync(join(root, "mailproof"), 0o755);
    const libraries = listLibraries(program);
    for (const library of libraries) {
      mkdirSync(join(root, dirname(library)), { recursive: true });
      copyFileSync(library, join(root, library));
    }
    if (!existsSync(join(root, "lib"))) symlinkSync("usr/lib", join(root, "lib"));
    const elapsed = createTimer();

    const { verdict, stop } = await whenServing(root, ["/mailproof", "start"], ".local");
    const first = elapsed();
    expect(verdict).toBe("valid");
    expect(await stop()).toBe(0);
    const inside = (...words: readonly string[]) =>
      execFileSync("/usr/sbin/chroot", [root, "/mailproof", ...words], {
        encoding: "utf8",
        env: {},
      });

    expect(inside("verify", ADDRESS)).toContain("valid");
    expect(JSON.parse(inside("admin", "audit"))).toMatchObject({ ok: true, accounts: 1 });
    report("executable", { first, megabytes: measureSize(program), libraries });
  });
});
