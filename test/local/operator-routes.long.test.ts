import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { scheduleWork } from "@mailproof/core/runtime/leases";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { createOperatorRoutes } from "@mailproof/local/server/operator";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, onTestFinished, test } from "vitest";
import { serveZone } from "../servers/dns-server.ts";
import { createFolder, serveFile, whenRun, whenRunIn, whenStarted } from "../servers/running.ts";

const KEY = `mp_operator_${randomBytes(20).toString("hex")}`;

const { folder, server } = serveFile(async () => ({ OPERATOR_KEY: KEY }));

const whenOperated = async () => {
  const { ready, readLog } = await server;
  const send = (path: string, { key = KEY, method = "POST", body = {} as unknown } = {}) =>
    fetch(`${ready.base_url}${path}`, {
      method,
      headers: { "x-api-key": key, "content-type": "application/json" },
      ...(method === "POST" && { body: JSON.stringify(body) }),
    });
  const operate = async (command: string, body: unknown = {}) => {
    const response = await send(`/v1/operator/${command}`, { body });
    // Any: each command has its own.
    return { status: response.status, body: (await response.json()) as any };
  };
  /** What the command line prints. */
  const admin = async (...args: readonly string[]) => {
    const { out } = await whenRun({ MAILPROOF_DIR: folder }, "admin", ...args, "--json");
    return JSON.parse(out) as unknown;
  };
  const openAccount = async (): Promise<{ account_id: string; live_key: string }> =>
    (await operate("accounts.create", { name: "A", credits: "1000" })).body.data;
  return { ready, readLog, send, operate, openAccount, admin };
};

test("each operator's route returns the output of its command", async () => {
  const { ready, operate, admin } = await whenOperated();
  const account = ready.account_id;

  expect((await operate("accounts.list")).body.data).toEqual(await admin("accounts", "list"));
  expect((await operate("accounts.show", { account })).body.data).toEqual(
    await admin("accounts", "show", "--account", account),
  );
  expect((await operate("keys.list", { account })).body.data).toEqual(
    await admin("keys", "list", "--account", account),
  );
  expect((await operate("dead-letters.list")).body.data).toEqual(
    await admin("dead-letters", "list"),
  );
  expect((await operate("audit")).body.data).toEqual(await admin("audit"));
  expect((await operate("gauges")).body.data).toMatchObject({ dead_letters: 0 });
});

test("an operator's request applies its change, and the log contains the command without its values", async () => {
  const { operate, openAccount, send, readLog } = await whenOperated();
  const { account_id: account, live_key: key } = await openAccount();

  await operate("credits.grant", { account, amount: "12.5" });
  const before = await send("/v1/account", { key, method: "GET" });
  await operate("accounts.disable", { account });
  const after = await send("/v1/account", { key, method: "GET" });

  expect(await before.json()).toMatchObject({ data: { credits: { available: 1_012.5 } } });
  expect(after.status).not.toBe(200);
  const lines = readLog().filter(({ event }) => event === "operator_command");
  expect(lines.slice(-2).map(({ command }) => command)).toEqual([
    "credits.grant",
    "accounts.disable",
  ]);
  expect(JSON.stringify(lines)).not.toContain(account);
});

test("a grant repeated with its Idempotency-Key moves credits once", async () => {
  const { operate, openAccount } = await whenOperated();
  const { account_id: account } = await openAccount();
  const grant = { account, amount: "12.5", "idempotency-key": "key-1" };

  const responses = [
    await operate("credits.grant", grant),
    await operate("credits.grant", grant),
    await operate("credits.grant", { ...grant, amount: "13" }),
    await operate("credits.grant", { ...grant, "idempotency-key": "a key" }),
  ];

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 409, 400]);
  expect(responses[1]?.body.data).toMatchObject({ available: 1_012.5 });
  expect(responses[3]?.body.error.message).toContain("idempotency-key: must be 1 to 255");
});

test("a server starts from the folder of an operator's backup request, which needs OPERATOR_KEY", async () => {
  const { operate } = await whenOperated();
  const to = join(createFolder(), "copy");

  const refused = await operate("backup", { to });
  const { body } = await operate("backup");

  expect(refused).toMatchObject({ status: 400, body: { error: { code: "INVALID_REQUEST" } } });
  expect(existsSync(to)).toBe(false);
  expect(dirname(body.data.folder)).toBe(join(folder, "backups"));
  expect(statSync(dirname(body.data.folder)).mode & 0o077).toBe(0);
  const { ready } = await whenStarted(body.data.folder);
  expect(ready.account_id).toMatch(/^acc_/);
  // This server has no OPERATOR_KEY.
  const response = await fetch(`${ready.base_url}/v1/operator/accounts.list`, {
    method: "POST",
    headers: { "x-api-key": KEY },
  });
  expect(response.status).toBe(404);
});

test("an operator's backup request refuses the eleventh backup until another one is moved away", async () => {
  const { operate } = await whenOperated();
  const backups = join(folder, "backups");
  rmSync(backups, { recursive: true, force: true });
  for (let n = 0; n < 10; n++) mkdirSync(join(backups, String(n)), { recursive: true });

  const refused = await operate("backup");
  rmdirSync(join(backups, "9"));
  const made = await operate("backup");

  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toContain(`There are 10 backups in ${backups}. Move them`);
  expect(made.status).toBe(200);
});

test("the operator's routes answer 404 to every other key", async () => {
  const { ready, send } = await whenOperated();
  const nowhere = await send("/v1/nowhere", { key: ready.live_key });
  const message = ((await nowhere.json()) as any).error;

  for (const key of [ready.live_key, ready.test_key, "", `${KEY}x`, KEY.toUpperCase()]) {
    const response = await send("/v1/operator/accounts.list", { key });
    expect(response.status).toBe(404);
    expect(((await response.json()) as any).error).toEqual(message);
  }
});

/** Without a server round them. */
const openRoutes = () => {
  const environment = readEnvironment({ MAILPROOF_DIR: createFolder(), OPERATOR_KEY: KEY });
  const { world, close } = createApp(environment, () => "", null);
  onTestFinished(close);
  const answer = createOperatorRoutes(world, environment);
  return async (command: string, body: unknown, method = "POST") => {
    const rawPath = `/v1/operator/${command}`;
    const headers = { "x-api-key": KEY };
    return answer?.({
      id: "req_1",
      baseUrl: "http://127.0.0.1:8787",
      method,
      rawPath,
      search: "",
      headers,
      body: async () => body,
    });
  };
};

test.each<[string, unknown, number, string]>([
  ["accounts.vanish", {}, 404, "No such command: accounts.vanish."],
  ["accounts.show", {}, 400, "account: is required."],
  ["accounts.show", undefined, 400, "account: is required."],
  ["accounts.show", { account: "acc_none" }, 404, "acc_none"],
  ["accounts.plan", { account: "a", plan: "gold" }, 400, "plan: must be one of free, pro, scale."],
  ["accounts.list", { all: true }, 400, "all:"],
  ["accounts.list", [], 400, "body: must be an object of options."],
  ["accounts.close", { account: "acc_none" }, 404, "acc_none"],
])(
  "the operator's route %s with %j answers %i and a sentence",
  async (command, body, status, sentence) => {
    const response = await openRoutes()(command, body);

    expect(response?.statusCode).toBe(status);
    expect((JSON.parse(response?.body ?? "") as any).error.message).toContain(sentence);
  },
);

test("an operator's route answers 405 with the right method for another one", async () => {
  const response = await openRoutes()("accounts.list", undefined, "GET");

  expect(response).toMatchObject({ statusCode: 405, headers: { allow: "POST" } });
});

test("admin dead-letters prints dead letters without addresses and queues them again", async () => {
  const folder = createFolder();
  createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", null).close();
  const queue = createSqliteQueue(join(folder, "queue.sqlite"), () => new Date());
  await queue.sendMany("activity-dead", [
    { body: { of: "joe@example.com" } },
    { body: { of: "ann@example.com" } },
  ]);
  await queue.sendMany("chunks-dead", [{ body: { job: "job_1" } }]);

  const listed = await whenRunIn(folder, "admin", "dead-letters", "list");
  const replayed = await whenRunIn(
    folder,
    "admin",
    "dead-letters",
    "replay",
    "--queue",
    "activity",
  );

  expect(JSON.parse(listed.out)).toMatchObject({
    waiting: 3,
    messages: [
      { queue: "activity-dead", body: { of: expect.stringMatching(/^address:/) } },
      { queue: "activity-dead" },
      { queue: "chunks-dead", body: { job: "job_1" } },
    ],
  });
  expect(JSON.parse(replayed.out)).toEqual({ queue: "activity", replayed: 2 });
  expect(await queue.countDeadLetters()).toBe(1);
  const queueSettings = {
    name: "activity",
    visibilitySeconds: 60,
    receivesMax: 12,
    concurrency: 20,
  };
  const received = await queue.receive(queueSettings, { waitMs: 0 });
  expect(received.map(({ receiveCount }) => receiveCount)).toEqual([1, 1]);
  queue.close();
});

test("admin egress records prints a probe domain's records and their settings", async () => {
  const { code, out } = await whenRunIn(
    createFolder(),
    ..."admin egress records --domain probe.example.com --ip 192.0.2.1 --mx mail.example.com".split(
      " ",
    ),
  );

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    zone: expect.arrayContaining(["probe.example.com. 3600 IN A 192.0.2.1"]),
    settings: { SMTP_HELLO: "probe.example.com", SMTP_FROM: "probe@probe.example.com" },
  });
});

test("admin egress test reports that this host may not probe", async () => {
  const dns = await serveZone({ "mail.example": { MX: ["10 mx.mail.example"] } });
  const settings = { MAILPROOF_DIR: createFolder(), DNS_SERVERS: dns.address };
  const { code, out } = await whenRun(
    settings,
    ..."admin egress test --domains mail.example".split(" "),
  );
  await dns.close();

  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    may_probe: "no",
    contacted_servers: [{ domain: "mail.example", is_open: false }],
  });
});

test("admin gauges prints stuck work and reports it by the exit code", async () => {
  const folder = createFolder();
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");
  const well = await whenRunIn(folder, "admin", "gauges");
  const table = createSqliteTable(join(folder, "state.sqlite"), () => new Date());
  const tenMinutesAgo = new Date(Date.now() - 600_000);
  await table.write({
    create: { pk: "X", sk: "Y", ...scheduleWork("any", "1", tenMinutesAgo, "t") },
  });
  table.close();
  const queue = createSqliteQueue(join(folder, "queue.sqlite"), () => new Date());
  await queue.sendMany("activity-dead", [{ body: {} }]);
  queue.close();

  const ill = await whenRunIn(folder, "admin", "gauges");

  expect(well.code).toBe(0);
  expect(JSON.parse(well.out)).toEqual({
    ok: true,
    due_age_seconds: 0,
    due_misplaced: 0,
    credits_held_over_an_hour: 0,
    clock_jump_seconds: 0,
    resources_exhausted: 0,
    providers_in_doubt: 0,
    mail_providers_blocked: 0,
    dead_letters: 0,
  });
  expect(ill.code).toBe(1);
  const { due_age_seconds: age, ...others } = JSON.parse(ill.out) as { due_age_seconds: number };
  expect(age).toBeGreaterThanOrEqual(600);
  expect(others).toMatchObject({ ok: false, credits_held_over_an_hour: 0, dead_letters: 1 });
});
