import { toBalanceKey } from "@mailproof/core/money/balance";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import {
  createFolder,
  whenCommanded,
  whenRun,
  whenRunIn,
  whenStarted,
} from "../servers/running.ts";

test("an operator opens an account, adds a key, grants credits and audits, beside a running server", async () => {
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

test("an operator takes unspent credits back, and no more than there are", async () => {
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

test("an operator has an address forgotten, beside a running server", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const callApi = (method: string, path: string, body?: object) =>
    fetch(`${ready.base_url}/v1/activity/${path}`, {
      method,
      headers: { "x-api-key": ready.live_key, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    }).then((answer) => answer.json());
  const opened = {
    id: "1",
    type: "open",
    email: "a+b@x.com",
    occurred_at: new Date().toISOString(),
  };
  const response = await callApi("POST", "events", { events: [opened] });
  const before = await callApi("GET", "a%2Bb%40x.com");

  const { code, out } = await whenRunIn(
    folder,
    "admin",
    "activity",
    "forget",
    "--email",
    "A+b@x.com",
  );
  const after = await callApi("GET", "a%2Bb%40x.com");

  expect(response).toMatchObject({ data: { accepted: 1 } });
  expect(before).toMatchObject({ data: { activity: { total_opens: 1 } } });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ email: "A+b@x.com", records_forgotten: 1 });
  expect(after).toMatchObject({ data: { activity: { total_opens: 0 } } });
  await stop("SIGTERM");
});

test("an operator reads what became of mail, and what canaries found, before there is any", async () => {
  const folder = createFolder();
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");

  const month = () => new Date().toISOString().slice(0, 7);
  const monthBefore = month();
  const calibration = await whenRunIn(folder, "admin", "calibration", "--months", "1");
  const providers = await whenRunIn(folder, "admin", "providers");

  expect(calibration.code).toBe(0);
  expect(JSON.parse(calibration.out)).toEqual({
    // A month may end while the command runs.
    months: [expect.toBeOneOf([monthBefore, month()])],
    by_status: [],
    by_score: [],
    by_provider_and_status: [],
    by_provider_status_and_score: [],
  });
  expect(JSON.parse(providers.out)).toEqual({ providers: [] });
});

test.each(asRows`
  no command | [] | ${"Commands:\n  start "}
  half a command | [admin accounts] | npx mailproof admin accounts create
  a missing option | [admin accounts create] | --name is required
  an unknown option | [admin audit --fix] | --fix
  an unknown plan | [admin accounts create --name A --plan gold] | --plan must be one of free, pro, scale
  a third of a credit | [admin accounts create --name A --credits 0.3] | --credits must be a number of credits
  a third of a credit to take back | ${["admin", "credits", "grant", "--account", "acc_1", "--amount=-0.3"]} | --amount must be a number of credits
  an unknown scope | [admin keys create --account a --mode live --scopes all] | must be a list of verification:read
  a grant of nothing | [admin credits grant --account a --amount 0] | --amount must not be 0
  a name without end | ${["admin", "accounts", "create", "--name", "x".repeat(101)]} | --name must have at most 100 characters
  what is no address | [admin activity forget --email ann] | --email must be an email address
  months that are not stored | [admin calibration --months 14] | --months must be a number of months from 1 to 13
  an audit where there is nothing | [admin audit] | has no Mailproof state. Set MAILPROOF_DIR
`)("%s says so on stderr and ends with 2", async (_, args, words) => {
  const { code, out, err } = await whenRunIn(createFolder(), ...args);

  expect(err).toContain(words);
  expect({ code, out }).toEqual({ code: 2, out: "" });
});

test.each([
  ["a key for", ["keys", "create", "--account", "acc_9", "--mode", "live"]],
  ["a grant to", ["credits", "grant", "--account", "acc_9", "--amount", "5"]],
  ["a clawback from", ["credits", "grant", "--account", "acc_9", "--amount=-5"]],
])("%s an account that is not there ends with 2", async (_, args) => {
  const folder = createFolder();
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");

  const { code, err } = await whenRunIn(folder, "admin", ...args);

  expect(err).toContain("No account acc_9");
  expect(code).toBe(2);
});

test("a wrong setting is named, and the command ends with 2", async () => {
  const { code, err } = await whenRun({ MAILPROOF_API: "127.0.0.1:8787" }, "jobs");

  expect(err).toContain("MAILPROOF_API must be an address such as https://");
  expect(code).toBe(2);
});

test("help of the operator's commands lists each with its options", async () => {
  const { code, out } = await whenRun({}, "help", "admin");

  expect(out).toMatch(/npx mailproof admin audit \[--full\] \[--json\]$/m);
  expect(code).toBe(0);
});

test("--help of an operator's command shows how it is typed, and ends with 0", async () => {
  const { code, out } = await whenRun({}, "admin", "keys", "create", "--help");

  expect(code).toBe(0);
  expect(out).toContain(
    "npx mailproof admin keys create --account A --mode live|test [--scopes s,…] [--name N]",
  );
  expect(out).toMatch(/^ +--mode live\|test +\(required\)$/m);
});

test("an audit that finds a broken invariant names it and ends with 1", async () => {
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
