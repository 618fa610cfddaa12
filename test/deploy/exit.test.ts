import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createCloudInit } from "../../infra/cloud-init.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { eventually } from "../runner/eventually.ts";
import { buildImage, type Image } from "./dockerfile.ts";
import {
  createDebian,
  createFolder,
  findChild,
  findObstacle,
  NAMESPACES,
  removeRoot,
  runInRoot,
  toWords,
  writeInRoot,
} from "./fresh-root.ts";

// A network of its own, where public addresses are ours: a mail server, an exit, who may use it and who may not.

const MAIL_SERVER = "8.8.5.1";
/** Nobody listens there. */
const NO_MAIL_SERVER = "8.8.5.2";
const SERVICE = "8.8.3.1";
const STRANGER = "8.8.3.2";
/** Where only the machine itself, or its network, may go. The mail server is there, too. */
const PRIVATE = ["10.1.1.1", "169.254.169.254", "127.0.0.1"] as const;
const OTHER_PORT = 26;

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

type SmallInternet = {
  /** The words of a command that uses this network. */
  readonly inside: (...command: readonly string[]) => readonly string[];
  /** What an image starts, with all that it prints. */
  readonly start: (image: Image, settings: Readonly<Record<string, string>>) => Started;
  readonly close: () => Promise<void>;
};

type Started = { readonly child: ChildProcess; readonly log: () => string };

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
const end = async ({ child }: Pick<Started, "child">): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  const first = findChild(child.pid);
  process.kill(Number.isNaN(first) ? (child.pid ?? 0) : first, "SIGKILL");
  await ended;
};

/** Until it has printed this. */
const waitForLine = ({ child, log }: Started, text: string): Promise<void> =>
  eventually(() => {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${log()}`);
    if (!log().includes(text)) throw new Error(`It has not said "${text}": ${log()}`);
  });

const openSmallInternet = async (exits: readonly string[]): Promise<SmallInternet> => {
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
const startNameServer = async (
  { inside }: SmallInternet,
  zone: object,
): Promise<() => Promise<void>> => {
  const program = [process.execPath, "test/deploy/name-server.ts", JSON.stringify(zone)];
  const started = run(inside(...program));
  await waitForLine(started, "127.0.0.1:53");
  return () => end(started);
};

/** What curl says of a session with a mail server: `< 220 …`, or why there is none. */
const greet = ({ inside }: SmallInternet, from: string, target: string, proxy?: string): string => {
  const options = ["--verbose", "--silent", "--show-error", "--max-time", "20"];
  const way = proxy === undefined ? [] : ["--proxy", proxy];
  const words = ["--interface", from, ...way, `smtp://${target}`];
  const [nsenter = "", ...args] = inside("curl", ...options, ...words);
  const { stdout, stderr } = spawnSync(nsenter, args, { encoding: "utf8", env: ENV });
  return `${stdout}${stderr}`;
};

// Goal: the exit of deploy/exit lets the service reach mail servers, and nothing else happen; and it says what is missing. Method:
// the steps of its Dockerfile run in a fresh Debian, and it stands in a network of its own, with a real Postfix.

const HELO = "probe.example.com";
const ADDRESS = "8.8.4.10";
const NAMELESS = "8.8.4.11";
const RENAMED = "8.8.4.12";
const PASSWORD = "a-password-of-its-own";

const ZONE = {
  [HELO]: { A: [ADDRESS] },
  "10.4.8.8.in-addr.arpa": { PTR: [HELO] },
  "12.4.8.8.in-addr.arpa": { PTR: ["host12.provider.example"] },
  "gmail-smtp-in.l.google.com": { A: [MAIL_SERVER] },
  "one.example": { MX: [[10, "mx.one.example"]] },
  "mx.one.example": { A: [MAIL_SERVER] },
};

const PROXY = `socks5://mailproof:${PASSWORD}@${ADDRESS}:1080`;

describeUnless(findObstacle(), "the exit of deploy/exit", () => {
  let image: Image;
  let roots: readonly string[] = [];
  let internet: SmallInternet;
  beforeAll(async () => {
    ({ image, roots } = buildImage("deploy/exit/Dockerfile", "deploy/exit"));
    writeInRoot(
      image.root,
      "etc/resolv.conf",
      "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
    );
    internet = await openSmallInternet([ADDRESS, NAMELESS, RENAMED]);
  });
  afterAll(async () => {
    await internet?.close();
    roots.forEach(removeRoot);
  });

  const SETTINGS = {
    HELO,
    ADDRESS,
    ALLOW: `${SERVICE}, ${ADDRESS}`,
    PASSWORD,
  };

  const givenNames = async (zone: object = ZONE) => {
    onTestFinished(await startNameServer(internet, zone));
  };

  const whenStarted = (settings: Readonly<Record<string, string>> = {}) => {
    const started = internet.start(image, { ...SETTINGS, ...settings });
    onTestFinished(() => end(started));
    return started;
  };

  const givenExit = async (settings: Readonly<Record<string, string>> = {}) => {
    await givenNames();
    const started = whenStarted(settings);
    await waitForLine(started, "running");
    return started;
  };

  test("the exit reports that it works, and the service reaches a mail server with the right password", async () => {
    const { log } = await givenExit();

    expect(greet(internet, SERVICE, `${MAIL_SERVER}:25`, PROXY)).toContain("< 220 mx.one.example");
    expect(log().split("\n").slice(0, 3)).toEqual([
      `mailproof-exit: ${ADDRESS} and ${HELO} name each other.`,
      "mailproof-exit: Port 25 is open: gmail-smtp-in.l.google.com says 220.",
      `mailproof-exit: Sessions to port 25 may begin: port 1080 is open for mailproof at ${SETTINGS.ALLOW}.`,
    ]);
  });

  test("the exit refuses every other target, even one with a listener", async () => {
    const { log } = await givenExit();
    const through = (
      target: string,
      { from = SERVICE, proxy = PROXY }: { from?: string; proxy?: string } = {},
    ) => greet(internet, from, target, proxy);

    // Without the exit each of them greets.
    const targets = [`${MAIL_SERVER}:${OTHER_PORT}`, ...PRIVATE.map((address) => `${address}:25`)];
    for (const target of targets) expect(greet(internet, SERVICE, target)).toContain("< 220");
    expect(greet(internet, STRANGER, `${MAIL_SERVER}:25`)).toContain("< 220");

    // RFC 1928: 2 is "not allowed", 8 is "address type not supported".
    for (const target of targets)
      expect(through(target)).toMatch(/Can't complete SOCKS5 connection.*\(2\)/);
    expect(through("[::1]:25")).toMatch(/Can't complete SOCKS5 connection.*\(8\)/);
    expect(
      through("gmail-smtp-in.l.google.com:25", { proxy: PROXY.replace("socks5:", "socks5h:") }),
    ).toMatch(/Can't complete SOCKS5 connection.*\(2\)/);
    expect(through(`${MAIL_SERVER}:25`, { proxy: PROXY.replace(PASSWORD, "another") })).toContain(
      "User was rejected",
    );
    expect(through(`${MAIL_SERVER}:25`, { proxy: `socks5://${ADDRESS}:1080` })).toContain(
      "No authentication method was acceptable",
    );
    const stranger = through(`${MAIL_SERVER}:25`, { from: STRANGER });
    expect(stranger).toMatch(/Recv failure|closed/);
    expect(stranger).not.toContain("< 220");
    await eventually(() => expect(log()).toMatch(/block.*8\.8\.3\.2\./));
  });

  test("the service's own test of its exits accepts the exit", async () => {
    await givenExit();
    const [nsenter = "", ...args] = internet.inside(
      process.execPath,
      "packages/local/src/cli/cli.ts",
      ..."admin egress test --domains one.example".split(" "),
    );
    const folder = createFolder();
    onTestFinished(() => removeRoot(folder));

    const { stdout } = spawnSync(nsenter, args, {
      encoding: "utf8",
      env: {
        PATH: process.env["PATH"],
        MAILPROOF_DIR: folder,
        DNS_SERVERS: "127.0.0.1:53",
        SMTP_HELLO: HELO,
        SMTP_PROXIES: `${PROXY},${PROXY.replace(PASSWORD, "another")}`,
      },
    });

    expect(JSON.parse(stdout)).toMatchObject({
      exits: [
        { exit: `${ADDRESS}:1080`, is_reachable: true, port_25: "yes" },
        { exit: `${ADDRESS}:1080#2`, is_reachable: false, port_25: "no" },
      ],
      contacted_servers: [{ reply: "250 mx.one.example" }, { reply: "proxy_failed" }],
    });
  });

  test("the exit ends at once when it is stopped", async () => {
    const { child } = await givenExit();
    const ended = once(child, "exit");

    process.kill(findChild(child.pid), "SIGTERM");

    expect(await ended).toEqual([0, null]);
  });

  test("the exit's password appears in no image, command line or server environment", async () => {
    const { child } = await givenExit();
    const server = findChild(child.pid);

    for (const part of ["cmdline", "environ"])
      expect(readFileSync(`/proc/${server}/${part}`, "utf8")).not.toContain(PASSWORD);
    expect(readFileSync(`/proc/${server}/cmdline`, "utf8")).toContain("danted");
    expect(readFileSync("deploy/exit/Dockerfile", "utf8")).not.toMatch(/^(?:ARG|ENV)/m);
  });

  const { "10.4.8.8.in-addr.arpa": _, ...withoutPtr } = ZONE;
  const { [HELO]: __, ...withoutForward } = ZONE;

  test.each<[string, Readonly<Record<string, string>>, object | null, RegExp]>([
    [
      "no PTR record",
      {},
      withoutPtr,
      /8\.8\.4\.10 has no PTR record.*set it to probe\.example\.com/,
    ],
    [
      "a PTR record of another name",
      { ADDRESS: RENAMED },
      { ...ZONE, [HELO]: { A: [RENAMED] } },
      /The PTR record of 8\.8\.4\.12 is host12\.provider\.example, and HELO is probe\.example\.com\. Set/,
    ],
    [
      "a name that points elsewhere",
      {},
      { ...ZONE, [HELO]: { A: [NAMELESS] } },
      /probe\.example\.com is 8\.8\.4\.11, but not 8\.8\.4\.10\. Add .*probe\.example\.com\. A 8\.8\.4\.10/,
    ],
    ["a name without an address", {}, withoutForward, /probe\.example\.com has no A record\. Add/],
    [
      "localhost as HELO",
      { HELO: "localhost" },
      ZONE,
      /HELO is "localhost"\. Set it to a host name/,
    ],
    [
      "another HELO name than the PTR record's",
      { HELO: "mail.example.com" },
      { ...ZONE, "mail.example.com": { A: [ADDRESS] } },
      /The PTR record of 8\.8\.4\.10 is probe\.example\.com, and HELO is mail\.example\.com/,
    ],
    [
      "a closed port 25",
      {},
      { ...ZONE, "gmail-smtp-in.l.google.com": { A: [NO_MAIL_SERVER] } },
      /Port 25 is closed: none of .* can be reached\. Ask/,
    ],
    ["a silent name server", {}, null, /No name server answers.*\/etc\/resolv\.conf/],
    [
      "an empty address",
      { ADDRESS: "" },
      ZONE,
      /ADDRESS is ""\. Set it to the public IPv4 address/,
    ],
    ["an empty ALLOW", { ALLOW: "" }, ZONE, /ALLOW is empty\. Set it to the addresses/],
    ["a weak password", { PASSWORD: "geheim" }, ZONE, /PASSWORD is not 16 to 255/],
  ])(
    "the exit refuses to start with %s and states the remedy",
    async (_what, settings, zone, says) => {
      if (zone) await givenNames(zone);
      const { child, log } = whenStarted(settings);
      const [code] = await once(child, "close");

      expect(code).toBe(1);
      expect(log()).toMatch(says);
      expect(log()).toContain("Nothing was started");
      expect(log()).not.toContain(settings["PASSWORD"] ?? PASSWORD);
    },
  );

  test("the exit starts with UNCHECKED despite a fault and reports the fault", async () => {
    const { log } = await givenExit({ UNCHECKED: "yes", ADDRESS: NAMELESS });

    expect(log()).toContain("8.8.4.11 has no PTR record");
    expect(log()).toContain("Started all the same");
  });

  test("cloud-init installs the exit's files on a rented machine, where systemd runs them", () => {
    const settings = "HELO=probe.example.com\n";
    const userData = createCloudInit(settings);
    const brings = (path: string, content: string) =>
      expect(userData).toMatch(
        new RegExp(
          `path: ${path}\\n(?:    permissions: .*\\n)?    content: ${RegExp.escape(JSON.stringify(content))}`,
        ),
      );

    brings("/etc/mailproof-exit/exit.env", settings);
    for (const path of ["/usr/local/sbin/mailproof-exit", "/etc/mailproof-exit/danted.conf"])
      brings(path, readFileSync(join(image.root, path), "utf8"));
    // The smallest limit is that of AWS.
    expect(userData.length).toBeLessThan(16_384);
  });

  const isMissing = spawnSync("systemd-analyze", ["--version"]).status !== 0;

  describeUnless(
    isMissing ? "there is no systemd-analyze" : null,
    "the unit of a rented machine",
    () => {
      test("systemd accepts the exit's unit", () => {
        const folder = createFolder();
        onTestFinished(() => removeRoot(folder));
        const [, , dropIn = ""] =
          /mailproof\.conf\n    content: (\|)\n((?: {6}.*\n|\n)+)/.exec(createCloudInit("")) ?? [];
        mkdirSync(join(folder, "danted.service.d"));
        writeFileSync(
          join(folder, "danted.service"),
          // The manual's pages are not there.
          readFileSync(join(image.root, "lib/systemd/system/danted.service"), "utf8").replace(
            /^Documentation=.*$/m,
            "",
          ),
        );
        writeFileSync(
          join(folder, "danted.service.d/mailproof.conf"),
          dropIn.replaceAll(/^ {6}/gm, "").replace("/usr/local/sbin/mailproof-exit", "/bin/true"),
        );

        const { stdout, stderr } = spawnSync(
          "systemd-analyze",
          ["verify", join(folder, "danted.service")],
          {
            encoding: "utf8",
          },
        );

        expect(dropIn).toContain("[Service]");
        expect(`${stdout}${stderr}`).toBe("");
      });
    },
  );
});
