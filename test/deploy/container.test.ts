import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { buildImage, type Image } from "./dockerfile.ts";
import {
  createFolder,
  findChild,
  findObstacle,
  measureSize,
  NAMESPACES,
  removeRoot,
  toWords,
} from "./fresh-root.ts";

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

type Container = {
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
const createVolume = ({ root, volumes }: Image): string => {
  const [at = ""] = volumes;
  const volume = createFolder();
  rmSync(volume, { recursive: true });
  mkdirSync(volume);
  spawnSync("cp", ["--archive", "--no-target-directory", join(root, at), volume]);
  return volume;
};

const startContainer = (
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
const readComposeEnvironment = (
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

// Goal: deploy/Dockerfile and the settings of deploy/compose.yaml work. Method: there is no container engine, so each step of
// the file runs in a fresh Debian, and the server in namespaces with the restrictions of the compose file. What only an engine
// could show is not tried: the image of the registry, layers, networks between containers, and Caddy in one.

const VERIFY = `
const key = process.argv[1];
fetch("http://127.0.0.1:8787/v1/verify", {
  method: "POST",
  headers: { "x-api-key": key, "content-type": "application/json" },
  body: JSON.stringify({ email: "ada.lovelace@valid.lab.mailproof.test" }),
}).then((response) => response.json()).then(({ data }) => console.log(data.status));
`;

describeUnless(findObstacle(), "the image of deploy/Dockerfile", () => {
  let image: Image;
  let roots: readonly string[] = [];
  beforeAll(() => {
    ({ image, roots } = buildImage("deploy/Dockerfile", "."));
  });
  afterAll(() => roots.forEach(removeRoot));

  const environment = readComposeEnvironment("deploy/compose.yaml", "mailproof", {
    MAILPROOF_HOST: "api.example.com",
  });

  const givenContainer = async (volume: string) => {
    const container = startContainer(image, volume, environment);
    onTestFinished(async () => {
      await container.stop().catch(() => undefined);
    });
    await container.waitUntilHealthy();
    return container;
  };

  const givenVolume = () => {
    const volume = createVolume(image);
    onTestFinished(() => removeRoot(volume));
    return volume;
  };

  test("the compose file passes the values of its settings to the container", () => {
    expect(environment).toEqual({
      PUBLIC_URL: "https://api.example.com",
      TRUST_PROXY: "172.16.0.0/12, 192.168.0.0/16",
      SMTP_HELLO: "api.example.com",
      SMTP_FROM: "probe@api.example.com",
      SMTP_PROXIES: "",
    });
  });

  test("the image contains Node and the package, and no build tools", () => {
    const { root } = image;
    const program = readFileSync(join(root, "usr/local/bin/mailproof"), "utf8");

    expect(program).toContain("#!/usr/bin/env -S node");
    expect(readdirSync(join(root, "tmp"))).toEqual([]);
    expect(existsSync(join(root, "root/.npm"))).toBe(false);
    expect(existsSync(join(root, "build"))).toBe(false);
    process.stdout.write(`The image: ${measureSize(root)} MB.\n`);
  });

  test("the container verifies an address as a user without rights on a read-only root", async () => {
    const { exec } = await givenContainer(givenVolume());

    const status = readStatus(exec("cat", "/proc/self/status").out);
    const first = exec("cat", "/proc/1/comm").out.trim();
    const account = exec(
      "mailproof",
      "admin",
      "accounts",
      "create",
      "--name",
      "A",
      "--credits",
      "9",
    );
    const { live_key: key } = JSON.parse(account.out) as { live_key: string };

    expect(first).toBe("tini");
    expect(readStatus(exec("cat", "/proc/1/status").out)).toMatchObject({
      Uid: "10001",
      CapEff: "0000000000000000",
      CapBnd: "0000000000000000",
      NoNewPrivs: "1",
    });
    expect(status).toMatchObject({ Uid: "10001" });
    expect(exec("touch", "/usr/local/x").out).toMatch(/Read-only file system|Permission denied/);
    expect(exec("sh", "-c", "echo x > /opt/x").out).toMatch(/Read-only|denied/);
    expect(exec("touch", "/tmp/x").status).toBe(0);
    expect(exec("node", "-e", VERIFY, key).out.trim()).toBe("valid");
  });

  test("docker stop ends the container cleanly, the container's check fails, and the next one reads the state", async () => {
    const volume = givenVolume();
    const before = await givenContainer(volume);
    const { live_key: key } = JSON.parse(
      before.exec("mailproof", "admin", "accounts", "create", "--name", "A", "--credits", "9").out,
    ) as { live_key: string };

    expect(await before.stop()).toBe(0);
    expect(before.log()).toContain('"event":"stopped"');

    const after = await givenContainer(volume);
    expect(after.exec("node", "-e", VERIFY, key).out.trim()).toBe("valid");
  });

  test("the container's check fails while the server does not answer", async () => {
    const { exec, isHealthy } = await givenContainer(givenVolume());
    const server = exec(
      "sh",
      "-c",
      "grep -l '^PPid:.1$' /proc/[0-9]*/status | cut -d/ -f3",
    ).out.trim();

    exec("sh", "-c", `kill -STOP ${server}`);

    expect(isHealthy()).toBe(false);
    exec("sh", "-c", `kill -CONT ${server}`);
    expect(isHealthy()).toBe(true);
  });
});

const readStatus = (text: string) =>
  Object.fromEntries(
    text.split("\n").map((line) => {
      const [name = "", value = ""] = line.split(":\t");
      return [name, value.split("\t")[0]?.trim()];
    }),
  ) as Record<string, string>;
