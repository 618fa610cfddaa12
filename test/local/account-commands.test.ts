import { DAY_MS } from "@mailproof/core/lib/time";
import { createWebhook, updateWebhook } from "@mailproof/core/webhooks/webhooks";
import { createApp } from "@mailproof/local/app";
import { formatAdminOutput } from "@mailproof/local/cli/define-admin";
import { formatCalibration } from "@mailproof/local/cli/report-commands";
import { readEnvironment } from "@mailproof/local/environment";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { createFolder, whenCommanded, whenStarted } from "../servers/running.ts";
import { runAdmin } from "../things/admin.ts";
import { givenChunked, whenBatched } from "../things/jobs.ts";

test("admin commands beside a running server revoke a key, disable an account, and close it only with --yes", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const account = ["--account", ready.account_id];
  const admin = (...args: string[]) => whenCommanded(folder, "admin", ...args);
  const ask = async (key = ready.live_key) =>
    (await fetch(`${ready.base_url}/v1/account`, { headers: { "x-api-key": key } })).status;

  const listed = await admin("keys", "list", ...account);
  expect(listed.out).not.toContain(ready.live_key);
  const keys = JSON.parse(listed.out) as { key_id: string; mode: string }[];
  const test = keys.find(({ mode }) => mode === "test")?.key_id ?? "";
  await admin("keys", "revoke", ...account, "--key", test);
  expect([await ask(), await ask(ready.test_key)]).toEqual([200, 401]);

  const disabled = await admin("accounts", "disable", ...account, "--json");
  expect(JSON.parse(disabled.out)).toMatchObject({ status: "disabled", jobs_cancelled: 0 });
  expect(await ask()).toBe(403);

  const unsure = await admin("accounts", "close", ...account);
  expect(unsure).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Add --yes.") });
  expect(await ask()).toBe(403);
  const closed = await admin("accounts", "close", ...account, "--yes");
  expect(JSON.parse(closed.out)).toMatchObject({ status: "closed", keys_revoked: 1 });
  expect(await ask()).toBe(401);
  await stop("SIGTERM");
});

test("admin accounts finds and renames an account, and admin keys revokes a key once", async () => {
  const { world, account, liveKey: key } = await given({ balance: 10 });
  const run = (line: string) => runAdmin(world, `${line} --account ${account}`);

  const [found] = await runAdmin(world, "accounts list");
  await run("accounts rename --name Acme");
  const [{ key_id: id }] = await run("keys list");

  expect(found).toMatchObject({ account_id: account, name: "Ann's Shop", plan: "pro" });
  expect((await send(world, "GET /v1/account", { key })).data.name).toBe("Acme");
  expect(await run(`keys revoke --key ${id}`)).toEqual({ key_id: id, revoked: true });
  await expect(run(`keys revoke --key ${id}`)).rejects.toThrow(`The account has no key ${id}.`);
});

test("admin accounts list shows each account's balance, its use of 30 days less refunds, and its last call", async () => {
  const { world, account, liveKey, testKey, later } = await givenChunked();
  const idle = await runAdmin(world, "accounts create --name Idle --credits 5");
  const list = async () =>
    new Map<string, any>(
      (await runAdmin(world, "accounts list")).map((one: any) => [one.account_id, one]),
    );
  const verify = (key: string) => whenBatched(world, key, { emails: ["ann@x.com", "joe@x.com"] });

  await verify(liveKey);
  later(DAY_MS);
  const cancelled = await verify(liveKey);
  await runAdmin(world, `jobs cancel --job ${cancelled.data.job_id}`);
  later(2 * DAY_MS);
  await send(world, "GET /v1/account", { key: testKey });

  const seen = await list();
  expect(seen.get(account)).toMatchObject({
    name: "Ann's Shop",
    available: 98,
    used_30_days: 2,
    last_call_at: "2026-11-24T00:00:00.000Z",
  });
  expect(seen.get(idle.account_id)).toMatchObject({
    available: 5,
    used_30_days: 0,
    last_call_at: null,
  });

  // The first call was on the first of these thirty days, and is on none of the next.
  later(26 * DAY_MS);
  expect((await list()).get(account)).toMatchObject({ used_30_days: 2 });
  later(DAY_MS);
  expect((await list()).get(account)).toMatchObject({
    used_30_days: 0,
    last_call_at: "2026-11-24T00:00:00.000Z",
  });
});

test("admin accounts list shows an account's last call after the call's key was revoked", async () => {
  const { world, account, liveKey, later } = await given({ balance: 10 });
  later(90_000);
  await whenVerified(world, liveKey, { email: "ann@x.com" });
  const keys = await runAdmin(world, `keys list --account ${account}`);
  for (const { key_id: id } of keys)
    await runAdmin(world, `keys revoke --account ${account} --key ${id}`);

  const [listed] = await runAdmin(world, "accounts list");

  expect(listed.last_call_at).toBe("2026-11-21T00:01:30.000Z");
});

test("admin accounts plan changes the plan from the next request on and shows the account's state", async () => {
  const { world, account, liveKey: key } = await given({ balance: 10 });
  const options = `--account ${account}`;
  const readPlan = async () => (await send(world, "GET /v1/account", { key })).data.plan.id;

  const changed = await runAdmin(world, `accounts plan ${options} --plan free`);
  await runAdmin(world, `accounts disable ${options}`);
  const shown = await runAdmin(world, `accounts show ${options}`);
  const enabled = await runAdmin(world, `accounts enable ${options}`);

  expect(changed).toMatchObject({ account_id: account, plan: "free", status: "active" });
  expect(shown).toMatchObject({
    status: "disabled",
    disabled_at: "2026-11-21T00:00:00.000Z",
    credits: { available: 10 },
    keys: 2,
  });
  expect(enabled).toMatchObject({ status: "active" });
  expect(await readPlan()).toBe("free");
});

test("admin keys rotate prints the new key once and ends the old one at the operator's time", async () => {
  const { world, account, later } = await given();
  const run = (line: string) => runAdmin(world, `keys ${line}`);
  const statusOf = async (key: string) =>
    (await send(world, "GET /v1/account", { key })).statusCode;
  const create = `create --account ${account} --mode live`;
  const first = await run(`${create} --expires 90d`);

  const second = await run(`rotate --account ${account} --key ${first.key_id} --overlap 1h`);
  const both = [await statusOf(first.key), await statusOf(second.key)];
  const third = await run(`rotate --account ${account} --key ${second.key_id} --overlap 0m`);
  await run(`${create} --networks 192.0.2.0/24,2001:db8::/32 --expires 2027-01-31`);
  const listed = await run(`list --account ${account}`);
  later(3_600_000);

  expect(both).toEqual([200, 200]);
  expect(await statusOf(first.key)).toBe(401);
  expect(await statusOf(second.key)).toBe(401);
  expect(await statusOf(third.key)).toBe(200);
  expect(second).toMatchObject({
    expires_at: "2027-02-19T00:00:00.000Z",
    old_key_id: first.key_id,
    old_expires_at: "2026-11-21T01:00:00.000Z",
    old_revoked: false,
  });
  expect(third).toMatchObject({ old_key_id: second.key_id, old_revoked: true });
  expect(JSON.stringify(listed)).not.toContain(third.key);
  expect(listed).toContainEqual(
    expect.objectContaining({
      networks: ["192.0.2.0/24", "2001:db8::/32"],
      expires_at: "2027-01-31T00:00:00.000Z",
    }),
  );
  await expect(run(`${create} --expires 0m`)).rejects.toThrow("--expires must be in the future");
});

test("admin lists an account's ledger and jobs page by page, and jobs cancel ends a job", async () => {
  const ctx = await givenChunked();
  const { world, account, liveKey, later } = ctx;
  for (let jobs = 0; jobs < 2; jobs++) {
    later(1_000);
    await whenBatched(world, liveKey, { emails: ["ann@x.com"] });
  }
  const run = (line: string) => runAdmin(world, line);

  const newest = await run(`jobs list --account ${account} --limit 1`);
  const older = await run(`jobs list --account ${account} --limit 1 --after ${newest.next}`);
  expect([...newest.jobs, ...older.jobs].map(({ job_id }) => job_id)).toEqual(["job_2", "job_1"]);

  expect(await run("jobs cancel --job job_1")).toMatchObject({
    status: "cancelled",
    credits_refunded: 1,
  });
  const open = await run(`jobs list --account ${account} --status processing`);
  expect(open).toMatchObject({ jobs: [{ job_id: "job_2" }], next: null });

  const first = await run(`credits list --account ${account} --limit 2`);
  const second = await run(`credits list --account ${account} --after ${first.next}`);
  const entries = [...first.entries, ...second.entries];
  expect(entries.map(({ available_change: change }) => change)).toEqual([-1, -1, 1, 100]);
  expect(entries.at(-1)).toMatchObject({ reason: "opening", moved: { grant: 100 } });
  expect(entries[0]).toMatchObject({ operation_id: "job_2", step: "debit" });
  expect(second.next).toBeNull();
});

test("admin commands print an account's state in words on a terminal", () => {
  const account = { account_id: "acc_1", name: "A\u001b[31m", keys: 2, disabled_at: null };

  expect(formatAdminOutput(account)).toBe(
    "account_id   acc_1\nname         A�[31m\nkeys         2\ndisabled_at  -\n",
  );
  expect(formatAdminOutput([account, { ...account, account_id: "acc_10", keys: 12 }])).toBe(
    [
      "account_id  name    keys  disabled_at",
      "acc_1       A�[31m     2  -",
      "acc_10      A�[31m    12  -",
      "",
    ].join("\n"),
  );
  expect(formatAdminOutput([])).toBe("None.\n");
});

test("each admin command with an unknown account prints the account's id", async () => {
  const { world } = await given();
  const commands = [
    "accounts show",
    "accounts rename --name N",
    "accounts plan --plan pro",
    "accounts disable",
    "accounts enable",
    "accounts close --yes",
    "keys list",
    "keys create --mode live",
    "keys revoke --key key_none",
    "keys rotate --key key_none",
    "credits list",
    "credits grant --amount 5",
    "jobs list",
    "webhooks list",
  ];

  for (const command of commands)
    await expect(runAdmin(world, `${command} --account acc_none`)).rejects.toThrow(
      "No account acc_none.",
    );
});

test("admin webhooks finds a disabled webhook of live or test keys and enables it", async () => {
  const folder = createFolder();
  const admin = (...args: string[]) => whenCommanded(folder, "admin", ...args);
  const opened = await admin("accounts", "create", "--name", "Joe");
  const { account_id: account = "" } = JSON.parse(opened.out) as Record<string, string>;
  const { world, close } = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null);
  const request = { url: "https://example.com/in", events: ["job.completed" as const] };
  const { webhook, secret } = await createWebhook(world, { ...request, owner: account });
  await createWebhook(world, { ...request, owner: `${account}~test` });
  await updateWebhook(world, webhook, { status: "disabled" });
  close();
  const list = async () => {
    const { out } = await admin("webhooks", "list", "--account", account);
    expect(out).not.toContain(secret);
    return JSON.parse(out) as unknown;
  };

  expect(await list()).toMatchObject([{ status: "disabled" }, { status: "active" }]);
  const one = ["--account", account, "--webhook", webhook.id];
  expect((await admin("webhooks", "enable", ...one)).code).toBe(0);
  expect(await list()).toMatchObject([{ webhook_id: webhook.id, status: "active" }, {}]);

  const none = await admin("webhooks", "enable", "--account", account, "--webhook", "whk_none");
  expect(none.code).toBe(2);
  expect(none.err).toContain("The account has no webhook whk_none.");
});

const row = (sent: number, accounts: number) => ({
  provider: "google",
  status: "valid",
  band: 90,
  sent,
  bounced: 1,
  soft: 0,
  accounts,
  share: sent < 30 ? null : 0.01,
  interval: sent < 30 ? null : ([0.002, 0.05] as const),
});

test.each(asRows<[number, number, object, readonly string[]]>`
  29 | 5 | ${{ note: "too few: below 30 addresses nothing is claimed" }} | [bounce_share interval]
  100 | 2 | ${{ bounce_share: 0.01, note: "fewer than 3 accounts: it may be the habit of one sender" }} | []
  100 | 3 | ${{ bounce_share: 0.01, interval: [0.002, 0.05], score: "90-100" }} | [note]
`)(
  "the calibration report of %i addresses in %i accounts omits the figures that it cannot support",
  (sent, accounts, fields, absent) => {
    const report = { months: ["2026-11"], byStatus: [], byBand: [], byProvider: [] };

    const output = formatCalibration({ ...report, cells: [row(sent, accounts)] }) as {
      by_provider_status_and_score: readonly Record<string, unknown>[];
    };

    const [printed = {}] = output.by_provider_status_and_score;
    expect(printed).toMatchObject({ sent, accounts, ...fields });
    expect(Object.keys(printed).filter((name) => absent.includes(name))).toEqual([]);
  },
);
