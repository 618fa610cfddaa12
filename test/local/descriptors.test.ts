import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { readGauges } from "@mailproof/core/background/gauges";
import { countFreeDescriptors, shareDescriptors } from "@mailproof/local/server/descriptors";
import { createOwnErrorWatch } from "@mailproof/local/server/own-error-watch";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { endWithTest } from "../runner/eventually.ts";
import { MAILPROOF } from "../servers/package.ts";
import { createFolder, PRELOADED } from "../servers/running.ts";
import { connectTo } from "../servers/slow-clients.ts";

test.each([
  [1_048_576, { connections: 524_256, sessions: 700 }],
  [4_096, { connections: 2_016, sessions: 700 }],
  [1_024, { connections: 480, sessions: 360 }],
  [256, { connections: 96, sessions: 72 }],
  [64, { connections: 8, sessions: 6 }],
  [Number.POSITIVE_INFINITY, { connections: Number.POSITIVE_INFINITY, sessions: 700 }],
])("the server divides %s free descriptors between callers and mail servers", (limit, shares) => {
  expect(shareDescriptors(limit)).toEqual(shares);
});

test.each([128, 256, 1_024, 4_096])(
  "the server keeps the reserve of %s free descriptors out of the shares",
  (limit) => {
    const { connections, sessions } = shareDescriptors(limit);

    expect(connections + sessions).toBeLessThanOrEqual(limit - Math.min(64, limit * 0.75));
  },
);

test("the process counts the descriptors that it may still open", () => {
  expect(countFreeDescriptors()).toBeGreaterThan(0);
});

test("the gauges show a lack of descriptors, and the log states it once", async () => {
  const { world, logged } = await given();
  let count = 0;
  const watch = createOwnErrorWatch(() => count);

  await watch.run(world);
  const before = await readGauges(world);
  count = 3;
  await watch.run(world);
  await watch.run(world);

  expect(before.resourcesExhausted).toBe(0);
  expect((await readGauges(world)).resourcesExhausted).toBe(3);
  expect(logged.filter(({ event }) => event === "resources_exhausted")).toHaveLength(1);
});

test("the server closes an idle connection for a request when descriptors are few", async () => {
  const folder = createFolder();
  const command = `ulimit -n 512; exec "$0" ${[...PRELOADED, ...MAILPROOF].join(" ")} start`;
  const env = {
    PATH: process.env["PATH"] ?? "",
    MAILPROOF_DIR: folder,
    PORT: "0",
    REACH_DOMAINS: "",
  };
  const server = spawn("sh", ["-c", command, process.execPath], { env, stdio: "ignore" });
  endWithTest(server);
  const file = join(folder, "ready.json");
  while (!existsSync(file)) await setTimeout(20);
  const { base_url: url } = JSON.parse(readFileSync(file, "utf8")) as { base_url: string };

  // The share of all 512 is 224, and the server has opened some of them already.
  for (let count = 0; count < 230; count++) await connectTo(Number(new URL(url).port));

  expect((await fetch(`${url}/health`)).status).toBe(200);
});
