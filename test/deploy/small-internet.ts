import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { eventually } from "../runner/eventually.ts";
import type { Image } from "./dockerfile.ts";
import {
  createDebian,
  findChild,
  NAMESPACES,
  removeRoot,
  runInRoot,
  toWords,
  writeInRoot,
} from "./fresh-root.ts";

// A network of its own, where public addresses are ours: a mail server, an exit, who may use it and who may not.

export const MAIL_SERVER = "8.8.5.1";
/** Nobody listens there. */
export const NO_MAIL_SERVER = "8.8.5.2";
export const SERVICE = "8.8.3.1";
export const STRANGER = "8.8.3.2";
/** Where only the machine itself, or its network, may go. The mail server is there, too. */
export const PRIVATE = ["10.1.1.1", "169.254.169.254", "127.0.0.1"] as const;
export const OTHER_PORT = 26;

/** It ends when nobody holds its standard input any more. */
const NETWORK = `
set -eu
ip link set lo up
ip link add outside type veth peer name inside
ip link set outside up
ip link set inside up
for address in "$@"; do ip address add "$address/32" dev outside; done
echo ready
exec cat
`;

const MOUNTS = `
set -eu
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
exec chroot "$ROOT" "$@"
`;

const ENV = { PATH: process.env["PATH"] ?? "" };

export type SmallInternet = {
  /** The words of a command that uses this network. */
  readonly inside: (...command: readonly string[]) => readonly string[];
  /** What an image starts, with all that it prints. */
  readonly start: (image: Image, settings: Readonly<Record<string, string>>) => Started;
  readonly close: () => Promise<void>;
};

export type Started = { readonly child: ChildProcess; readonly log: () => string };

const run = (
  [program = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Started => {
  const child = spawn(program, args, {
    env: { ...ENV, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  return { child, log: () => log };
};

/** A server that changes its user forgets to end with its parent: the first process of its namespace has to be ended. */
export const end = async ({ child }: Pick<Started, "child">): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  const first = findChild(child.pid);
  process.kill(Number.isNaN(first) ? (child.pid ?? 0) : first, "SIGKILL");
  await ended;
};

/** Until it has printed this. */
export const waitForLine = ({ child, log }: Started, text: string): Promise<void> =>
  eventually(() => {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${log()}`);
    if (!log().includes(text)) throw new Error(`It has not said "${text}": ${log()}`);
  });

export const openSmallInternet = async (exits: readonly string[]): Promise<SmallInternet> => {
  const addresses = [...exits, SERVICE, STRANGER, MAIL_SERVER, NO_MAIL_SERVER].concat(
    PRIVATE.filter((address) => address !== "127.0.0.1"),
  );
  const network = spawn("unshare", ["--net", "sh", "-c", NETWORK, "sh", ...addresses], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(network.stdout, "data");
  const inside = (...command: readonly string[]) => [
    "nsenter",
    `--net=/proc/${network.pid}/ns/net`,
    ...command,
  ];
  const runRoot = (root: string, words: readonly string[]): Started =>
    run(inside("unshare", ...NAMESPACES, "sh", "-c", MOUNTS, "sh", ...words), { ROOT: root });
  const postfix = createPostfix();
  // It opens its output by name, which a socket, as Node's pipes are, has none of.
  const command = ["sh", "-c", "postfix start-fg 2>&1 | cat"];
  const mail = runRoot(postfix, toWords({ root: postfix, command }));
  await waitForLine(mail, "daemon started");
  return {
    inside,
    start: ({ root, env, entrypoint, command }, settings) => {
      const words = { root, env: { ...env, ...settings }, command: [...entrypoint, ...command] };
      return runRoot(root, [...RIGHTS, ...toWords(words)]);
    },
    close: async () => {
      await end(mail);
      await end({ child: network });
      removeRoot(postfix);
    },
  };
};

/** As `docker run` limits them with the options of docs/egress.md. */
const RIGHTS = [
  "setpriv",
  "--bounding-set=-all,+chown,+fowner,+setgid,+setuid",
  "--inh-caps=-all",
  "--no-new-privs",
];

const MAIN = `
compatibility_level = 3.6
maillog_file = /dev/stdout
myhostname = mx.one.example
mydestination = one.example
inet_interfaces = ${[MAIL_SERVER, ...PRIVATE].join(", ")}
inet_protocols = ipv4
`;

const MASTER = `
smtp inet n - n - - smtpd
${OTHER_PORT} inet n - n - - smtpd
rewrite unix - - n - - trivial-rewrite
postlog unix-dgram n - n - 1 postlogd
anvil unix - - n - 1 anvil
proxymap unix - - n - - proxymap
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
pickup unix n - n 60 1 pickup
`;

/** Debian's, in a Debian of its own. */
const createPostfix = (): string => {
  const root = createDebian();
  runInRoot({
    root,
    env: { DEBIAN_FRONTEND: "noninteractive" },
    command: ["sh", "-c", "apt-get update && apt-get install -y --no-install-recommends postfix"],
  });
  writeInRoot(root, "etc/postfix/main.cf", MAIN);
  writeInRoot(root, "etc/postfix/master.cf", MASTER);
  return root;
};

/** A name server at 127.0.0.1, where the machine of the exit looks for one. */
export const startNameServer = async (
  { inside }: SmallInternet,
  zone: object,
): Promise<() => Promise<void>> => {
  const program = [process.execPath, "test/deploy/name-server.ts", JSON.stringify(zone)];
  const started = run(inside(...program));
  await waitForLine(started, "127.0.0.1:53");
  return () => end(started);
};

/** What curl says of a session with a mail server: `< 220 …`, or why there is none. */
export const greet = (
  { inside }: SmallInternet,
  from: string,
  target: string,
  proxy?: string,
): string => {
  const options = ["--verbose", "--silent", "--show-error", "--max-time", "20"];
  const way = proxy === undefined ? [] : ["--proxy", proxy];
  const words = ["--interface", from, ...way, `smtp://${target}`];
  const [nsenter = "", ...args] = inside("curl", ...options, ...words);
  const { stdout, stderr } = spawnSync(nsenter, args, { encoding: "utf8", env: ENV });
  return `${stdout}${stderr}`;
};
