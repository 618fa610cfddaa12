import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeUnless } from "../runner/describe-when.ts";
import { createVolume, readComposeEnvironment, startContainer } from "./container.ts";
import { buildImage, type Image } from "./dockerfile.ts";
import { findObstacle, measureSize, removeRoot } from "./fresh-root.ts";

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
