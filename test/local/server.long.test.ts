import { execSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  createFolder,
  serveFile,
  spawnMailproof,
  spawnNode,
  whenStarted,
} from "../servers/running.ts";

const askAccount = async (baseUrl: string, key: string) =>
  fetch(`${baseUrl}/v1/account`, { headers: { "x-api-key": key } });

test("the server starts, prints where its keys are, and stops cleanly at a signal", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);

  // A stop removes it.
  cpSync(join(folder, "ready.json"), join(folder, "kept.json"));

  const answer = await askAccount(ready.base_url, ready.live_key);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ data: { account_id: ready.account_id } });

  const { code, screen } = await stop("SIGTERM");
  expect(code).toBe(0);
  // What it prints here becomes a log.
  expect(screen).not.toContain(ready.live_key);
  // Of a server for other machines it would warn.
  expect(screen).not.toContain("WARNING");
  expect(screen).toContain(`export MAILPROOF_API=${ready.base_url} MAILPROOF_KEY=`);
  const [, command = ""] = /MAILPROOF_KEY="\$\((sed .*)\)"/.exec(screen) ?? [];
  const reading = command.replace(join(folder, "ready.json"), join(folder, "kept.json"));
  expect(execSync(reading, { encoding: "utf8" }).trim()).toBe(ready.live_key);
  expect(existsSync(join(folder, "ready.json"))).toBe(false);
});

test("a second server start keeps the account and its keys, and --fresh creates new ones", async () => {
  const folder = createFolder();
  const first = await whenStarted(folder);
  await first.stop("SIGTERM");
  const second = await whenStarted(folder);
  await second.stop("SIGKILL");
  const third = await whenStarted(folder, ["--fresh"]);

  expect(second.ready.account_id).toBe(first.ready.account_id);
  expect(second.ready.live_key).toBe(first.ready.live_key);
  expect(second.ready.test_key).toBe(first.ready.test_key);
  expect((await askAccount(third.ready.base_url, first.ready.live_key)).status).toBe(401);
  expect((await askAccount(third.ready.base_url, third.ready.live_key)).status).toBe(200);
});

test("a malformed setting stops the start with a sentence", async () => {
  const child = spawnMailproof(["start"], {
    MAILPROOF_DIR: createFolder(),
    PORT: "http",
  });

  expect(await text(child.stderr)).toContain("PORT must be a number from 0 to 65535");
});

/** Behind a proxy, in a folder that others can read. */
const shared = serveFile(async () => {
  chmodSync(shared.folder, 0o755);
  return { PUBLIC_URL: "https://api.example.com/" };
});

test("no other user of the machine can read the stored keys, lists and state", async () => {
  const { folder } = shared;
  const { ready } = await shared.server;
  const accepted = await fetch(`${ready.base_url}/v1/verify/batch`, {
    method: "POST",
    headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
    body: JSON.stringify({ emails: ["ada.lovelace@valid.lab.mailproof.test"] }),
  });
  const open = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (name) => (statSync(join(folder, name)).mode & 0o077) !== 0,
  );

  expect(accepted.status).toBe(202);
  expect(open).toEqual([]);
  expect(Object.keys(JSON.parse(readFileSync(join(folder, "secrets.json"), "utf8")))).toContain(
    "key_pepper",
  );
});

test("a second server on one folder refuses to start, even with --fresh, and does not harm the first", async () => {
  const { folder } = shared;
  const first = await shared.server;

  for (const args of [[], ["--fresh"]]) {
    const second = spawnMailproof(["start", ...args], {
      MAILPROOF_DIR: folder,
      PORT: "0",
      REACH_DOMAINS: "",
    });
    expect(await text(second.stderr)).toContain(`Another Mailproof uses ${folder}`);
  }

  expect(existsSync(join(folder, "ready.json"))).toBe(true);
  expect((await askAccount(first.ready.base_url, first.ready.live_key)).status).toBe(200);
});

test("the links to files use the public address behind a proxy", async () => {
  const { ready } = await shared.server;

  const answer = await fetch(`${ready.base_url}/v1/verify/file`, {
    method: "POST",
    headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
    body: JSON.stringify({ action: "get_upload_url", file_name: "a.csv" }),
  });

  const { data } = (await answer.json()) as { data: { upload_url: string } };
  const { pathname, search } = new URL(data.upload_url);
  expect(data.upload_url).toMatch(/^https:\/\/api\.example\.com\/blobs\//);
  const put = await fetch(ready.base_url + pathname + search, { method: "PUT", body: "a@b.c" });
  expect(put.status).toBe(200);
});

test("a server start prints the port in use and a way to choose another", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;

  const child = spawnMailproof(["start"], {
    MAILPROOF_DIR: createFolder(),
    PORT: String(port),
  });

  expect(await text(child.stderr)).toBe(
    `Another program has port ${port}; set PORT, METRICS_PORT or MAIL_PORT to a free one, or to 0 for any.\n`,
  );
});

test("a server start reports an option that npm consumed", async () => {
  const env = { MAILPROOF_DIR: createFolder(), npm_config_fresh: "true" };

  const child = spawnNode("packages/local/src/server/main.ts", [], env);

  expect(await text(child.stderr)).toContain("npm start -- --fresh");
});

test("a server start without installed packages prints how to install them", async () => {
  const clone = createFolder();
  mkdirSync(join(clone, "scripts"));
  cpSync("scripts/need-node.mjs", join(clone, "scripts", "need-node.mjs"));

  const child = spawnNode(join(clone, "scripts", "need-node.mjs"), [], {});

  expect(await text(child.stderr)).toContain("run 'npm ci' first");
});

test("a truncated secrets file stops the start with the file's name", async () => {
  const folder = createFolder();
  writeFileSync(join(folder, "secrets.json"), "");

  const child = spawnMailproof(["start"], {
    MAILPROOF_DIR: folder,
    PORT: "0",
    REACH_DOMAINS: "",
  });

  expect(await text(child.stderr)).toContain("secrets.json cannot be read");
});

test("a server without DEMO creates no account, and ready.json contains no key", async () => {
  const { ready, stop } = await whenStarted(createFolder(), [], { DEMO: "off" });

  const { screen } = await stop("SIGTERM");

  expect(ready).not.toHaveProperty("account_id");
  expect(ready).not.toHaveProperty("live_key");
  expect(screen).toContain("mailproof admin accounts create");
});

// Whether a fresh server can see mail servers. The lab plays each network.

test.each([
  ["open", "valid.lab.mailproof.test,refused.lab.mailproof.test"],
  ["dns_only", "refused.lab.mailproof.test"],
  ["lab", "nxdomain.lab.mailproof.test"],
])("the health of a server with reach %s states that reach", async (state, domains) => {
  const { ready } = await whenStarted(createFolder(), [], { REACH_DOMAINS: domains });

  let reach: any;
  do {
    await setTimeout(50);
    ({ reach } = (await (await fetch(`${ready.base_url}/health`)).json()) as any);
  } while (reach.state === "not_measured");

  expect(reach).toMatchObject({ state, refused_by: [], measured_at: expect.any(String) });
});

test("the first screen ends with the reach of the server", async () => {
  const server = spawnMailproof(["start"], {
    MAILPROOF_DIR: createFolder(),
    PORT: "0",
    REACH_DOMAINS: "refused.lab.mailproof.test",
  });
  let printed = "";
  for await (const piece of server.stdout as AsyncIterable<Buffer>) {
    printed += piece.toString();
    if (printed.includes("  reach      ")) break;
  }
  server.kill("SIGTERM");
  await once(server, "exit");

  expect(printed).toContain(
    "  reach      This server cannot reach mail servers: port 25 is closed.",
  );
});
