import { expect, test } from "vitest";
import { createFolder, whenCommanded, whenStarted } from "./running.ts";

test("beside a running server an operator finds an account, renames it and revokes its key at once", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const admin = async (...args: string[]) => {
    const { code, out } = await whenCommanded(folder, "admin", ...args);
    expect(code).toBe(0);
    expect(out).not.toContain(ready.live_key);
    return JSON.parse(out) as unknown;
  };
  const account = ["--account", ready.account_id];
  const ask = async () =>
    fetch(`${ready.base_url}/v1/account`, { headers: { "x-api-key": ready.live_key } });
  expect((await ask()).status).toBe(200);

  expect(await admin("accounts", "list")).toMatchObject([{ account_id: ready.account_id }]);
  await admin("accounts", "rename", ...account, "--name", "Acme");
  expect(await admin("accounts", "show", ...account)).toMatchObject({
    name: "Acme",
    credits: { available: 1_000_000, held: 0, spent: 0 },
    keys: 2,
  });
  expect(await (await ask()).json()).toMatchObject({ data: { name: "Acme" } });
  const keys = (await admin("keys", "list", ...account)) as { key_id: string; mode: string }[];
  const live = keys.find(({ mode }) => mode === "live")?.key_id ?? "";
  await admin("keys", "revoke", ...account, "--key", live);

  expect((await ask()).status).toBe(401);
  expect(await admin("keys", "list", ...account)).toMatchObject([{ mode: "test" }]);
  const again = await whenCommanded(folder, "admin", "keys", "revoke", ...account, "--key", live);
  expect(again.code).toBe(2);
  expect(again.err).toContain(`The account has no key ${live}.`);
  await stop("SIGTERM");
});

test("an account that does not exist is named", async () => {
  const folder = createFolder();
  await whenCommanded(folder, "admin", "accounts", "create", "--name", "Joe");

  for (const command of ["accounts show", "keys list", "accounts rename --name N"]) {
    const words = command.split(" ");
    const { code, err } = await whenCommanded(folder, "admin", ...words, "--account", "acc_none");
    expect(code).toBe(2);
    expect(err).toContain("No account acc_none.");
  }
});
