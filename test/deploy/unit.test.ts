import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildExecutable } from "../../scripts/build/executable.ts";
import { writePackage } from "../../scripts/build/package.ts";
import { openService } from "../journey/service.ts";
import { describeProgram, type Program, startProgram } from "../journey/started.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createDmarcReport } from "../things/made-reports.ts";
import { listLibraries } from "./fresh-root.ts";

// The executable as systemd starts it by deploy/mailproof.service, on machines that systemd does not run: the same filter
// of system calls, address families, user, rights, read-only paths, limits and environment, all from the unit's own lines.
// systemd-analyze expands its sets of system calls, and the C compiler knows their numbers.

/** Each line of the unit's service, in its order; a setting may have several. */
type Unit = Readonly<Record<string, readonly string[]>>;

const parseUnit = (text: string): Unit => {
  const [, service = ""] = /^\[Service\]\n([^[]*)/m.exec(text) ?? [];
  const unit: Record<string, string[]> = {};
  for (const line of service.split("\n")) {
    const [, name, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) (unit[name] ??= []).push(value);
  }
  return unit;
};

/** What stands for systemd here, by setting. */
const HONOURED = new Set(
  "ExecStart Environment WorkingDirectory DynamicUser StateDirectory StateDirectoryMode LimitNOFILE UMask ProtectSystem ProtectHome PrivateTmp PrivateDevices ProtectProc ProcSubset NoNewPrivileges CapabilityBoundingSet AmbientCapabilities RestrictAddressFamilies SystemCallArchitectures SystemCallFilter SystemCallErrorNumber".split(
    " ",
  ),
);
/** Of no effect on a process that has no rights and a filter of system calls, or no matter of the process. */
const LEFT_OUT = new Set(
  "EnvironmentFile Restart RestartSec TimeoutStopSec PrivateUsers ProtectHostname ProtectClock ProtectKernelTunables ProtectKernelModules ProtectKernelLogs ProtectControlGroups RestrictNamespaces RestrictRealtime RestrictSUIDSGID LockPersonality".split(
    " ",
  ),
);

const readSets = (): ReadonlyMap<string, readonly string[]> => {
  const printed = execFileSync("systemd-analyze", ["syscall-filter"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const sets = new Map<string, string[]>();
  let members: string[] = [];
  for (const line of printed.split("\n")) {
    if (line.startsWith("@")) sets.set(line, (members = []));
    else if (/^ +[@\w]/.test(line)) members.push(line.trim());
  }
  return sets;
};

const SETS = { read: undefined as ReadonlyMap<string, readonly string[]> | undefined };

/** A name is a system call, or a set with its members. */
const expand = (name: string): readonly string[] => {
  if (!name.startsWith("@")) return [name];
  const members = (SETS.read ??= readSets()).get(name);
  if (members === undefined) throw new Error(`systemd-analyze knows no set ${name}.`);
  return members.flatMap(expand);
};

/** As systemd.exec(5) has it: the first line makes it a list of what is allowed, and each further one adds or removes. */
const listAllowed = (lines: readonly string[]): readonly string[] => {
  if (lines[0] === undefined || lines[0].startsWith("~"))
    throw new Error("The unit's filter has to begin with what it allows.");
  const allowed = new Set(expand("@default"));
  for (const line of lines) {
    const isRemoved = line.startsWith("~");
    for (const name of line.replace("~", "").split(" ").flatMap(expand))
      if (isRemoved) allowed.delete(name);
      else allowed.add(name);
  }
  return [...allowed];
};

/** A filter sees numbers. A call that this machine's headers do not know cannot be named. */
const toRules = (names: readonly string[], action: string): string =>
  names.map((name) => `#ifdef SYS_${name}\n  CALL(SYS_${name}, ${action})\n#endif\n`).join("");

/** Gives up all rights, installs the filter, and becomes the program in its arguments. */
const writeLauncher = (unit: Unit, uid: number): string => {
  const [errorName] = unit["SystemCallErrorNumber"] ?? [];
  const refusal = errorName ? `SECCOMP_RET_ERRNO | ${errorName}` : "SECCOMP_RET_KILL_PROCESS";
  const families = (unit["RestrictAddressFamilies"]?.[0] ?? "").split(" ");
  return `
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)),
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action),
#define CALL(number, action) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), RETURN(action)

static struct sock_filter filter[] = {
  LOAD(arch)
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
  RETURN(SECCOMP_RET_KILL_PROCESS)
  LOAD(nr)
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, ${2 * families.length + 2}),
  LOAD(args[0])
${families.map((family) => `  CALL(${family}, SECCOMP_RET_ALLOW)\n`).join("")}
  RETURN(SECCOMP_RET_ERRNO | EAFNOSUPPORT)
${toRules(listAllowed(unit["SystemCallFilter"] ?? []), "SECCOMP_RET_ALLOW")}
${toRules(expand("@known"), refusal)}
  // Newer than systemd: programs then do without it.
  RETURN(SECCOMP_RET_ERRNO | ENOSYS)
};

#define TRY(call) if ((call) != 0) { perror(#call); return 70; }

int main(int count, char **words) {
  struct rlimit files;
  struct sock_fprog program = { sizeof filter / sizeof filter[0], filter };
  TRY(getrlimit(RLIMIT_NOFILE, &files))
  // A container may not raise its limit.
  if (files.rlim_max > ${unit["LimitNOFILE"]?.[0]}) files.rlim_max = ${unit["LimitNOFILE"]?.[0]};
  files.rlim_cur = files.rlim_max;
  TRY(setrlimit(RLIMIT_NOFILE, &files))
  umask(${unit["UMask"]?.[0]});
  for (int capability = 0; prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; capability++);
  TRY(setgroups(0, NULL))
  TRY(setresgid(${uid}, ${uid}, ${uid}))
  TRY(setresuid(${uid}, ${uid}, ${uid}))
  TRY(chdir("${unit["WorkingDirectory"]?.[0]}"))
  TRY(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
  TRY(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
  execv(words[1], words + 1);
  perror("execv");
  return 71;
}
`;
};

const MOUNTS = `
set -eu
mount --make-rprivate /
mount --bind "$ROOT" "$ROOT"
mount --bind "$ROOT/var/lib" "$ROOT/var/lib"
mount -t tmpfs tmpfs "$ROOT/tmp"
mount -t proc -o hidepid=invisible,subset=pid proc "$ROOT/proc"
mount -t tmpfs -o mode=755 tmpfs "$ROOT/dev"
for device in null zero full random urandom; do
  touch "$ROOT/dev/$device"
  mount --bind "/dev/$device" "$ROOT/dev/$device"
done
mount -o remount,bind,ro "$ROOT"
exec /usr/sbin/chroot "$ROOT" /launcher "$@"
`;

/** Why the unit's sandbox cannot be built here; null where it can. */
const findObstacle = (): string | null => {
  if (process.platform !== "linux" || process.arch !== "x64") return "it is for Linux x64 only";
  if (spawnSync("unshare", ["--mount", "true"]).status !== 0)
    return "it needs root, and a kernel that permits namespaces";
  for (const [program, from] of [
    ["systemd-analyze", "systemd"],
    ["cc", "gcc libc6-dev"],
  ] as const)
    if (spawnSync(program, ["--version"]).status !== 0)
      return `there is no ${program} (apt-get install ${from})`;
  return null;
};

/** Of the range that systemd gives to dynamic users. */
const UID = 61_184;

/** `executable` as the unit starts it, in the empty folder `root`. */
const createUnitProgram = (unitText: string, executable: string, root: string): Program => {
  const unit = parseUnit(unitText);
  const unknown = Object.keys(unit).filter((name) => !HONOURED.has(name) && !LEFT_OUT.has(name));
  if (unknown.length > 0) throw new Error(`This test does not know ${unknown.join(", ")}.`);
  const [installed = "", ...words] = (unit["ExecStart"]?.[0] ?? "").split(" ");
  const assigned = (unit["Environment"] ?? []).flatMap((line) => line.split(" "));
  const settings = Object.fromEntries(assigned.map((one) => one.split("=")));
  const state: string = settings.MAILPROOF_DIR;

  chmodSync(root, 0o755);
  for (const folder of ["tmp", "proc", "dev", "var/lib", dirname(installed)])
    mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(executable, join(root, installed));
  for (const library of listLibraries(executable)) {
    mkdirSync(join(root, dirname(library)), { recursive: true });
    copyFileSync(library, join(root, library));
  }
  if (!existsSync(join(root, "lib"))) symlinkSync("usr/lib", join(root, "lib"));
  for (const folder of [state, `${dirname(state)}/backups`]) {
    mkdirSync(join(root, folder), { mode: 0o700 });
    chownSync(join(root, folder), UID, UID);
  }
  const launcher = join(root, "launcher");
  writeFileSync(`${launcher}.c`, writeLauncher(unit, UID));
  execFileSync("cc", ["-static", "-o", launcher, `${launcher}.c`], { stdio: "pipe" });

  const asUser = [`--reuid=${UID}`, `--regid=${UID}`, "--clear-groups"];
  return {
    start: ["unshare", "--mount", "sh", "-c", MOUNTS, "sh", installed, ...words],
    command: ["setpriv", ...asUser, join(root, installed)],
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", ROOT: root, ...settings },
    inside: { root, state },
  };
};

// The executable in the sandbox of deploy/mailproof.service.

const UNIT = readFileSync("deploy/mailproof.service", "utf8");

describeUnless(findObstacle(), "the systemd unit, under systemd", () => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-unit-"));
  const executable = join(folder, "mailproof-linux-x64");
  beforeAll(async () => {
    // The unit's user passes through it.
    chmodSync(folder, 0o711);
    const packageFolder = join(folder, "package");
    await writePackage(packageFolder);
    buildExecutable(packageFolder, executable);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const createProgram = (unit: string) =>
    createUnitProgram(unit, executable, mkdtempSync(join(folder, "root-")));

  describeProgram("the systemd unit's system call filter", () => createProgram(UNIT));

  /** A server under the unit without these lines, and an upload to it that a reading thread reads. */
  const startWithout = async (lines: RegExp) => {
    const opened: (() => unknown)[] = [];
    onTestFinished(async () => {
      for (const close of opened.toReversed()) await close();
    });
    const program = createProgram(UNIT.replaceAll(lines, ""));
    const started = await startProgram(program, opened);
    const { baseUrl, key } = started.artefact;
    const ask = await openService(baseUrl, key);
    const body = { content: Buffer.from(createDmarcReport()).toString("base64") };
    return { ...started, upload: () => ask("POST /v1/deliverability/reports", { body }) };
  };

  test("the first report ends a server by SIGSYS where the filter kills and forbids setpriority", async () => {
    const lines = /^SystemCall(?:Filter=setpriority|ErrorNumber=.*)$/gm;
    const { upload, ended, stop } = await startWithout(lines);

    await expect(upload()).rejects.toThrow("fetch failed");
    await ended;

    expect(await stop()).toBe("SIGSYS");
  });

  test("the server reads a report where the filter refuses setpriority", async () => {
    const { upload, stop } = await startWithout(/^SystemCallFilter=setpriority$/gm);

    expect((await upload()).status).toBe(201);

    expect(await stop()).toBe(0);
  });
});
