import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { SELF_SIGNED } from "../servers/https-servers.ts";
import { HOST } from "../servers/mail-servers.ts";

/** A mail server as its Debian package brings it, and how it is to be set up. */
export type Recipe = {
  /** The Debian package: scripts/fetch-debian.sh unpacks it into a folder of this name. */
  readonly debian: string;
  /** Packages that it works with, unpacked over the same machine. */
  readonly beside?: readonly string[];
  /** Accounts of the machine: those the server runs as, and its local users. */
  readonly accounts: readonly string[];
  readonly files: (port: number) => Readonly<Record<string, string>>;
  /** Shell words; what goes on in the background ends with the server. */
  readonly start: (port: number) => string;
};

export const CERT_FILE = "/etc/mail-test/cert.pem";
export const KEY_FILE = "/etc/mail-test/key.pem";

export const SERVERS = resolve(process.env["MAIL_SERVERS_DIR"] ?? ".cache/mail-servers");

/** Mounts and processes of its own: what is mounted is seen by no other process, and the first to end ends all. */
const APART = ["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Why a server cannot be asked here; null where it can. */
export const findObstacle = (recipe: Pick<Recipe, "debian" | "beside">): string | null => {
  const absent = findAbsentPackage(recipe);
  if (absent !== null) return absent;
  const { status } = spawnSync("unshare", [...APART, "sh", "-c", TRIAL]);
  return status === 0 ? null : "it needs root, unshare and a kernel that lays mounts over others";
};

/** Why a package cannot be run here; null where it is there. */
export const findAbsentPackage = ({ debian, beside = [] }: Pick<Recipe, "debian" | "beside">) => {
  const absent = [debian, ...beside].find((name) => !existsSync(join(SERVERS, name)));
  return absent === undefined
    ? null
    : `scripts/fetch-debian.sh has not put ${absent} into ${SERVERS}`;
};

const TRIAL = `
set -eu
mount -t tmpfs tmpfs /run
mkdir /run/new /run/work
mount -t overlay overlay /etc -o lowerdir=/etc,upperdir=/run/new,workdir=/run/work
`;

/**
 * The machine as it would be with the package installed: the package's files over the machine's own, and whatever is
 * written goes to memory. The first process waits for us to be gone, however we go, and all others end with it.
 */
const SANDBOX_SCRIPT = `
set -eu
mount -t tmpfs tmpfs "$MOUNT_POINT"
mount -t tmpfs tmpfs /run
for folder in etc usr var; do
  mkdir -p "$MOUNT_POINT/$folder" "$MOUNT_POINT/work-$folder"
  IFS=:
  for package in $PACKAGES; do
    [ ! -d "$package/$folder" ] || cp -a "$package/$folder" "$MOUNT_POINT"
  done
  unset IFS
  mount -t overlay overlay "/$folder" -o \\
    "lowerdir=/$folder,upperdir=$MOUNT_POINT/$folder,workdir=$MOUNT_POINT/work-$folder"
done
# No program in here asks the name servers of the world; OpenSMTPD would even wait for their answers.
rm -f /etc/resolv.conf
printf 'nameserver 127.0.0.1\\nlookup file\\n' >/etc/resolv.conf
`;

export type Running = { readonly port: number; readonly stop: () => Promise<void> };

export const startServer = async (recipe: Recipe): Promise<Running> => {
  const port = await findPort();
  const mountPoint = mkdtempSync(join(tmpdir(), "mail-server-"));
  const packages = [recipe.debian, ...(recipe.beside ?? [])].map((name) => join(SERVERS, name));
  const child = spawn("unshare", [...APART, "sh", "-c", buildScript(recipe, port)], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], MOUNT_POINT: mountPoint, PACKAGES: packages.join(":") },
  });
  const ended = new Promise<void>((done) => void child.once("close", () => done()));
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
    rmdirSync(mountPoint);
  };
  const output = collectOutput(child);
  if (await isAnswering(port, () => child.exitCode === null)) return { port, stop };
  await stop();
  throw new Error(`${recipe.debian} did not start: ${output()}`);
};

const buildScript = ({ accounts, files, start }: Recipe, port: number): string =>
  [
    SANDBOX_SCRIPT,
    ...accounts.map(formatAccount),
    ...Object.entries({
      [CERT_FILE]: SELF_SIGNED.cert,
      [KEY_FILE]: SELF_SIGNED.key,
      ...files(port),
    }).map(([path, text]) => write(path, text)),
    start(port),
    "cat",
  ].join("\n");

const FIRST_ID = 61_000;

const formatAccount = (name: string, index: number): string => {
  const id = FIRST_ID + index;
  return [
    `echo '${name}:x:${id}:${id}::/nonexistent:/usr/sbin/nologin' >>/etc/passwd`,
    `echo '${name}:x:${id}:' >>/etc/group`,
  ].join("\n");
};

const write = (path: string, text: string): string =>
  `mkdir -p "$(dirname ${path})"\ncat >${path} <<'END'\n${text}\nEND\nchmod 640 ${path}`;

type ServerProcess = ChildProcessByStdio<Writable, Readable, Readable>;

const collectOutput = ({ stdout, stderr }: ServerProcess): (() => string) => {
  let output = "";
  for (const stream of [stdout, stderr]) stream.on("data", (bytes) => (output += String(bytes)));
  return () => output;
};

const TRIES = 200;
const PAUSE_MS = 50;

/**
 * A port below those that the system hands out (32768 and up on Linux). A server takes seconds to its start, and meanwhile
 * another test's server might get one of those, and would be taken for ours.
 */
const findPort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    if (!(await isOpen(port))) return port;
  }
};

const isAnswering = async (port: number, isAlive: () => boolean): Promise<boolean> => {
  for (let tries = 0; tries < TRIES && isAlive(); tries += 1) {
    if (await isOpen(port)) return true;
    await sleep(PAUSE_MS);
  }
  return false;
};

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectTcp({ host: HOST, port });
    const settle = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once("connect", () => settle(true)).once("error", () => settle(false));
  });
