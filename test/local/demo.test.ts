import { join } from "node:path";
import { iterateAccounts } from "@mailproof/core/accounts/account-items";
import { findKey, revokeKey } from "@mailproof/core/accounts/api-keys";
import { readBalance } from "@mailproof/core/money/balance";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { ensureDemoAccount } from "@mailproof/local/server/demo";
import { formatFirstScreen } from "@mailproof/local/server/first-screen";
import { expect, onTestFinished, test } from "vitest";
import { whenVerified } from "../app/send.ts";
import { createFolder } from "../servers/running.ts";

const givenFolder = () => {
  const folder = createFolder();
  const open = (settings: Record<string, string> = {}) => {
    const environment = readEnvironment({ MAILPROOF_DIR: folder, ...settings });
    const { world, close } = createApp(environment, () => "", null);
    let isOpen = true;
    const closeOnce = () => {
      if (isOpen) close();
      isOpen = false;
    };
    onTestFinished(closeOnce);
    return { world, close: closeOnce };
  };
  return { folder, open };
};

type World = ReturnType<typeof createApp>["world"];

const listAccounts = async ({ table }: World) =>
  (await Array.fromAsync(iterateAccounts(table))).length;

const whenRevoked = async (world: World, secret = "") => {
  const key = await findKey(world, secret);
  if (!key) throw new Error("there is no such key");
  await revokeKey(world.table, key);
};

test("a server start keeps the demo account when its keys are valid", async () => {
  const { folder, open } = givenFolder();
  const { world } = open();

  const first = await ensureDemoAccount(folder, world);

  expect(await ensureDemoAccount(folder, world)).toEqual(first);
  expect(await listAccounts(world)).toBe(1);
});

test("a server start neither recreates a demo account with revoked keys nor shows these keys", async () => {
  const { folder, open } = givenFolder();
  const { world } = open();
  const { account_id, live_key, test_key } = await ensureDemoAccount(folder, world);

  await whenRevoked(world, live_key);
  const afterOne = await ensureDemoAccount(folder, world);
  await whenRevoked(world, test_key);

  expect(afterOne).toEqual({ account_id, test_key });
  expect(await ensureDemoAccount(folder, world)).toEqual({ account_id });
  expect(await listAccounts(world)).toBe(1);
});

test("a server start with another pepper gives the demo account new keys once and no new credits", async () => {
  const { folder, open } = givenFolder();
  const before = open();
  const first = await ensureDemoAccount(folder, before.world);
  before.close();
  const { world } = open({ KEY_PEPPER: "another pepper, long enough" });

  const second = await ensureDemoAccount(folder, world);

  expect(second.account_id).toBe(first.account_id);
  expect([second.live_key, second.test_key]).not.toContain(first.live_key);
  expect(await findKey(world, second.live_key ?? "")).toMatchObject({ mode: "live" });
  expect(await findKey(world, second.test_key ?? "")).toMatchObject({ mode: "test" });
  expect(await ensureDemoAccount(folder, world)).toEqual(second);
  expect(await listAccounts(world)).toBe(1);
});

test("a server start with another pepper keeps revoked demo keys revoked", async () => {
  const { folder, open } = givenFolder();
  const before = open();
  const { account_id, live_key, test_key } = await ensureDemoAccount(folder, before.world);
  await whenRevoked(before.world, live_key);
  await whenRevoked(before.world, test_key);
  before.close();
  const { world } = open({ KEY_PEPPER: "another pepper, long enough" });

  expect(await ensureDemoAccount(folder, world)).toEqual({ account_id });
});

const RUNNING = {
  baseUrl: "http://127.0.0.1:1",
  mcpUrl: "http://127.0.0.1:1/mcp",
  version: "0",
  demo: { account_id: "acc_1", live_key: "mp_live_secret", test_key: "mp_test_open" },
  signInUrl: "http://localhost:1/app/link#once",
  warnings: [],
};

test("the first screen prints the live key on a terminal, in commands that work unchanged", () => {
  const screen = formatFirstScreen(RUNNING, { directory: "/state", isTerminal: true });

  expect(screen).toContain("live key   mp_live_secret");
  expect(screen).toContain(
    "export MAILPROOF_API=http://127.0.0.1:1 MAILPROOF_KEY=mp_live_secret\n",
  );
  expect(screen).toContain(
    "curl -s http://127.0.0.1:1/v1/account -H 'X-Api-Key: mp_live_secret'\n",
  );
});

test("the first screen prints the live key's place when the output is no terminal", () => {
  const screen = formatFirstScreen(RUNNING, { directory: "/state", isTerminal: false });

  expect(screen).not.toMatch(/mp_live_secret|#once/);
  expect(screen).toContain(join("/state", "ready.json"));
  expect(screen).toContain(
    `MAILPROOF_KEY="$(sed -n 's/.*"live_key": *"\\([^"]*\\).*/\\1/p' '/state/ready.json')"\n`,
  );
});

test("the first screen begins with the link of the first visit until somebody has signed in", () => {
  const format = (signInUrl: string | null) =>
    formatFirstScreen({ ...RUNNING, signInUrl }, { directory: "/state", isTerminal: true });

  const [, heading, , first] = format(RUNNING.signInUrl).split("\n");
  expect([heading, first]).toEqual([
    "  Mailproof 0 is running at http://127.0.0.1:1",
    "  first      http://localhost:1/app/link#once",
  ]);
  expect(format(null)).not.toContain("first      ");
});

test.each([null, { account_id: "acc_1" }])(
  "the first screen without keys explains how to create an account: %j",
  (demo) => {
    const screen = formatFirstScreen(
      { ...RUNNING, demo },
      { directory: "/state", isTerminal: true },
    );

    expect(screen).toContain("npx mailproof admin accounts create");
    expect(screen).not.toContain("MAILPROOF_KEY");
    expect(screen).not.toContain("undefined");
  },
);

test("a paid request of a large account reads one item of its balance", async () => {
  const { folder, open } = givenFolder();
  const { world } = open();
  const { account_id, live_key } = await ensureDemoAccount(folder, world);

  for (let number = 0; number < 20; number++)
    await whenVerified(world, live_key ?? "", { email: `ada${number}@not a domain` });

  expect((await readBalance(world.table, account_id)).shards).toHaveLength(1);
});
