import { toBalanceKey } from "@mailproof/core/money/balance";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { expect, test } from "vitest";
import { createFolder, whenCommanded, whenRunIn, whenStarted } from "../servers/running.ts";

test("admin commands beside a running server open an account, add a key, grant credits and audit", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const admin = async (...args: string[]) => {
    const { code, out } = await whenCommanded(folder, "admin", ...args);
    return { code, answer: JSON.parse(out) as Record<string, string> };
  };

  const { answer: opened } = await admin(
    "accounts",
    "create",
    "--name",
    "Joe",
    "--plan",
    "pro",
    "--credits",
    "10.5",
  );
  const account = opened["account_id"] ?? "";
  const { answer: key } = await admin(
    "keys",
    "create",
    "--account",
    account,
    "--mode",
    "live",
    "--scopes",
    "account:read",
  );
  const { answer: granted } = await admin(
    "credits",
    "grant",
    "--account",
    account,
    "--amount",
    "4",
  );
  const audited = await admin("audit");

  expect(opened["live_key"]).toMatch(/^mp_live_/);
  expect(opened["test_key"]).toMatch(/^mp_test_/);
  expect(granted).toEqual({ account_id: account, available: 14.5 });
  expect(audited).toEqual({ code: 0, answer: { ok: true, accounts: 2, violations: [], late: [] } });
  const seen = await fetch(`${ready.base_url}/v1/account`, {
    headers: { "x-api-key": key["key"] ?? "" },
  });
  expect(await seen.json()).toMatchObject({ data: { name: "Joe", credits: { available: 14.5 } } });
  await stop("SIGTERM");
});

test("admin credits grant with a negative amount takes back unspent credits, and never more", async () => {
  const folder = createFolder();
  const admin = (...args: string[]) => whenRunIn(folder, "admin", ...args);
  const opened = await admin("accounts", "create", "--name", "Joe", "--credits", "14.5");
  const { account_id: account } = JSON.parse(opened.out) as { account_id: string };

  const clawedBack = await admin("credits", "grant", "--account", account, "--amount=-10");
  const tooMuch = await admin("credits", "grant", "--account", account, "--amount=-5");

  expect(JSON.parse(clawedBack.out)).toEqual({ account_id: account, available: 4.5 });
  expect(tooMuch).toMatchObject({
    code: 2,
    out: "",
    err: expect.stringContaining("has 4.5 unspent credits; 5 cannot be taken back"),
  });
});

test("admin audit prints a broken invariant and exits with 1", async () => {
  const folder = createFolder();
  const { out } = await whenRunIn(
    folder,
    "admin",
    "accounts",
    "create",
    "--name",
    "A",
    "--credits",
    "5",
  );
  const { account_id } = JSON.parse(out) as { account_id: string };
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  await world.table.write({ update: toBalanceKey(account_id), add: { available: 2 } });
  close();

  const audited = await whenRunIn(folder, "admin", "audit");

  expect(audited.code).toBe(1);
  expect(JSON.parse(audited.out)).toEqual({
    ok: false,
    accounts: 1,
    // Credits from nowhere break several invariants: the ledger has no entry of them either.
    violations: expect.arrayContaining([
      { account_id, law: "available = granted - debited + refunded" },
    ]),
    late: [],
  });
});

const givenAccount = async () => {
  const folder = createFolder();
  const args = ["accounts", "create", "--name", "Joe", "--plan", "pro"];
  const { out } = await whenRunIn(folder, "admin", ...args);
  const { account_id: account } = JSON.parse(out) as { account_id: string };
  return { folder, account };
};

test("admin accounts retention accepts at most the days of the account's plan", async () => {
  const { folder, account } = await givenAccount();
  const retain = (days: string) =>
    whenRunIn(folder, "admin", "accounts", "retention", "--account", account, "--days", days);

  expect(JSON.parse((await retain("7")).out)).toEqual({ account_id: account, retention_days: 7 });
  expect(JSON.parse((await retain("100")).out)).toMatchObject({ retention_days: 30 });
  expect(JSON.parse((await retain("plan")).out)).toMatchObject({ retention_days: 30 });
  for (const days of ["0", "101", "1.5", "-1", "week"]) {
    const { code, err } = await retain(days);
    expect([days, code]).toEqual([days, 2]);
    expect(err).toContain("--days");
  }
});

test("admin retention states an unknown account, and admin erase requires an address", async () => {
  const { folder } = await givenAccount();
  const args = ["accounts", "retention", "--account", "acc_none", "--days", "7"];

  const unknown = await whenRunIn(folder, "admin", ...args);
  const without = await whenRunIn(folder, "admin", "erase");
  const nothing = await whenRunIn(folder, "admin", "erase", "--email", "ann@x.com");

  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("No account acc_none.")]);
  expect([without.code, without.err]).toEqual([2, expect.stringContaining("--email is required")]);
  expect(nothing.code).toBe(0);
  expect(JSON.parse(nothing.out)).toEqual({
    complete: true,
    accounts: 1,
    open_jobs: [],
    erased: {
      cached_results: 0,
      responses: 0,
      activity_records: 0,
      verdicts: 0,
      job_rows: 0,
      mail_tests: 0,
    },
  });
});
