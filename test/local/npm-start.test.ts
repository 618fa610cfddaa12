import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createFolder, isGone } from "../servers/running.ts";

// The server as README starts it: by npm, with whatever npm puts between itself and the server.

const whenStartedByNpm = async () => {
  const folder = createFolder();
  const { PATH = "", HOME = "" } = process.env;
  const npm = spawn("npm", ["start"], {
    env: { PATH, HOME, MAILPROOF_DIR: folder, PORT: "0", REACH_DOMAINS: "" },
    stdio: ["ignore", "pipe", "ignore"],
    // A group of its own, so that a signal can be sent to all of it, as a terminal does.
    detached: true,
  });
  onTestFinished(async () => {
    if (npm.pid) killGroup(npm.pid);
    while (!isGone(folder)) await sleep(20);
  });
  const screen = text(npm.stdout);
  const file = join(folder, "ready.json");
  while (!existsSync(file)) {
    if (npm.exitCode !== null) throw new Error(`it ended: ${await screen}`);
    await sleep(20);
  }
  const { base_url } = JSON.parse(readFileSync(file, "utf8")) as { base_url: string };
  return { npm, screen, folder, port: Number(new URL(base_url).port) };
};

const killGroup = (pid: number): void => {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of it has ended.
  }
};

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

test.each(["SIGTERM", "SIGINT"] as const)(
  "a server started by npm ends before npm after %s",
  async (signal) => {
    const { npm, screen, folder, port } = await whenStartedByNpm();
    expect([await isOpen(port), isGone(folder)]).toEqual([true, false]);

    npm.kill(signal);
    await once(npm, "exit");

    expect([await isOpen(port), isGone(folder)]).toEqual([false, true]);
    expect(await screen).toContain("Finishing what is under way.");
  },
);

test.each(["SIGTERM", "SIGINT"] as const)(
  "a server that receives %s together with npm, as a terminal or systemd sends it, stops cleanly once",
  async (signal) => {
    const { npm, folder } = await whenStartedByNpm();

    process.kill(-(npm.pid ?? 0), signal);
    const [code] = (await once(npm, "exit")) as [number | null];

    expect(code).toBe(0);
    expect([isGone(folder), existsSync(join(folder, "ready.json"))]).toEqual([true, false]);
  },
);

test("a server stops cleanly by itself after kill -9 of its npm", async () => {
  const { npm, folder, port } = await whenStartedByNpm();

  npm.kill("SIGKILL");
  await once(npm, "exit");
  while (!isGone(folder)) await sleep(50);

  expect([await isOpen(port), existsSync(join(folder, "ready.json"))]).toEqual([false, false]);
});
