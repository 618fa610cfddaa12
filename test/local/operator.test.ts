import { join } from "node:path";
import { scheduleWork } from "@mailproof/core/runtime/leases";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";
import { serveZone } from "../servers/dns-server.ts";
import { createFolder, whenRun, whenRunIn, whenStarted } from "../servers/running.ts";

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

test("a new pepper revokes every key and renews ready.json, and a new cursor secret ends open lists", async () => {
  const folder = createFolder();
  const first = await whenStarted(folder);
  const live = { "x-api-key": first.ready.live_key };
  const json = { ...live, "content-type": "application/json" };
  for (const email of ["a@example.com", "b@example.com"])
    await fetch(`${first.ready.base_url}/v1/verify/batch`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ emails: [email] }),
    });
  const list = (base: string, offset?: string) =>
    fetch(`${base}/v1/jobs?limit=1${offset ? `&offset=${encodeURIComponent(offset)}` : ""}`, {
      headers: live,
    });
  const page = (await (await list(first.ready.base_url)).json()) as {
    data: { next_offset: string };
  };
  const { next_offset: next } = page.data;
  const before = await list(first.ready.base_url, next);
  await first.stop("SIGTERM");

  const second = await whenStarted(folder, [], { CURSOR_SECRET: "another secret for cursors" });
  const goneOn = await list(second.ready.base_url, next);
  const begun = await list(second.ready.base_url);
  await second.stop("SIGTERM");
  const third = await whenStarted(folder, [], { KEY_PEPPER: "another pepper for the keys" });
  const askAccount = (key: string) =>
    fetch(`${third.ready.base_url}/v1/account`, { headers: { "x-api-key": key } });
  const revoked = await askAccount(first.ready.live_key);
  const renewed = await askAccount(third.ready.live_key);
  await third.stop("SIGTERM");

  expect(next).toBeTypeOf("string");
  expect([before, goneOn, begun, revoked, renewed].map(({ status }) => status)).toEqual([
    200, 400, 200, 401, 200,
  ]);
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
