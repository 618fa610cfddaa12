import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Image } from "./dockerfile.ts";
import { createFolder, findChild, NAMESPACES, toWords } from "./fresh-root.ts";

// A container as deploy/compose.yaml asks for it: a read-only root, no capabilities, no new privileges, a network and
// processes of its own.

/** Volumes and /tmp alone can be written. */
const MOUNTS = `
set -eu
ip link set lo up
mount --bind "$ROOT" "$ROOT"
mount -o remount,bind,ro "$ROOT"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp"
mount --bind "$VOLUME" "$ROOT$VOLUME_AT"
exec chroot "$ROOT" "$@"
`;

const NO_RIGHTS = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"];

export type Container = {
  /** Runs a command in it, as `docker exec` does. */
  readonly exec: (...command: readonly string[]) => {
    readonly status: number | null;
    readonly out: string;
  };
  /** Until the image's check succeeds. */
  readonly waitUntilHealthy: () => Promise<void>;
  readonly isHealthy: () => boolean;
  /** As `docker stop` does: the exit code. */
  readonly stop: () => Promise<number | null>;
  readonly log: () => string;
};

/** Docker fills a new volume with what the image has there. */
export const createVolume = ({ root, volumes }: Image): string => {
  const [at = ""] = volumes;
  const volume = createFolder();
  rmSync(volume, { recursive: true });
  mkdirSync(volume);
  spawnSync("cp", ["--archive", "--no-target-directory", join(root, at), volume]);
  return volume;
};

export const startContainer = (
  image: Image,
  volume: string,
  environment: Readonly<Record<string, string>>,
): Container => {
  const { root, user, workdir } = image;
  const env = { ...image.env, ...environment };
  const command = [...image.entrypoint, ...image.command];
  const words = toWords({ root, user, workdir, env, command, rights: NO_RIGHTS });
  const child = spawn("unshare", [...NAMESPACES, "--net", "sh", "-c", MOUNTS, "sh", ...words], {
    env: {
      PATH: process.env["PATH"] ?? "",
      ROOT: root,
      VOLUME: volume,
      VOLUME_AT: image.volumes[0] ?? "",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });

  const execWithin = (timeout: number | undefined, inside: readonly string[]) => {
    const target = ["--target", String(findChild(child.pid)), "--all", "--root", "--wd"];
    const { status, stdout, stderr } = spawnSync(
      "nsenter",
      [...target, ...toWords({ root, user, workdir, env, command: inside })],
      { encoding: "utf8", timeout },
    );
    return { status, out: `${stdout}${stderr}` };
  };
  const { timeoutMs, command: check } = image.healthcheck;
  const isHealthy = () => execWithin(timeoutMs, check).status === 0;

  return {
    exec: (...inside) => execWithin(undefined, inside),
    isHealthy,
    waitUntilHealthy: async () => {
      while (!isHealthy()) {
        if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}: ${log}`);
        await setTimeout(100);
      }
    },
    stop: async () => {
      const ended = once(child, "exit");
      process.kill(findChild(child.pid), "SIGTERM");
      const [code] = (await ended) as [number | null];
      return code;
    },
    log: () => log,
  };
};

const NAME = /^ {2}(\w[\w-]*):$/;

/** The settings that deploy/compose.yaml gives a service, as Compose fills them in. */
export const readComposeEnvironment = (
  file: string,
  service: string,
  shell: Readonly<Record<string, string>>,
): Record<string, string> => {
  if (!existsSync(file)) throw new Error(`There is no ${file}.`);
  const lines = readFileSync(file, "utf8").split("\n");
  const start = lines.findIndex((line) => NAME.exec(line)?.[1] === service);
  const end = lines.findIndex((line, at) => at > start && NAME.test(line));
  const own = lines.slice(start, end);
  const first = own.indexOf("    environment:") + 1;
  const settings = own
    .slice(first)
    .slice(
      0,
      own.slice(first).findIndex((line) => /^ {4}\S/.test(line)),
    )
    .flatMap((line) => {
      const [, name = "", value = ""] = /^ {6}([A-Z_]+): (.*)$/.exec(line) ?? [];
      return name === "" ? [] : [[name, substitute(value, shell)] as const];
    });
  return Object.fromEntries(settings);
};

/** `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, from the inside out. */
const substitute = (text: string, shell: Readonly<Record<string, string>>): string => {
  const next = text.replaceAll(
    /\$\{(\w+)(?::([-?])([^${}]*))?\}/g,
    (_, name: string, kind: string | undefined, word = "") => {
      const value = shell[name] ?? "";
      if (value === "" && kind === "?") throw new Error(`${name}: ${word}`);
      return value === "" && kind === "-" ? word : value;
    },
  );
  return next === text ? text : substitute(next, shell);
};
