import { openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { startLab } from "@mailproof/lab/lab";
import { createApp } from "@mailproof/local/app";
import { readEnvironment } from "@mailproof/local/environment";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { findDamage } from "@mailproof/local/storage/state-check";
import { expect, onTestFinished, test } from "vitest";
import { createSend, serveWorld } from "../fixtures/play-release.ts";
import { createFolder } from "../servers/running.ts";

const ROWS = 3_000;
const now = () => new Date();

/** Pages in the middle of the file, filled with what is not a page. */
const overwrite = (file: string, byte: number) => {
  const pages = statSync(file).size / 4096;
  const handle = openSync(file, "r+");
  for (let page = Math.floor(pages / 4); page < pages * 0.75; page++)
    writeSync(handle, Buffer.alloc(4096, byte), 0, 4096, page * 4096);
};

const checkpoint = (file: string) => {
  const db = new DatabaseSync(file);
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
};

const given = async () => {
  const folder = createFolder();
  const lab = await startLab();
  const ctx = createApp(readEnvironment({ MAILPROOF_DIR: folder }), () => "", lab);
  const { liveKey } = await openAccount(ctx.world, {
    name: "Ann",
    plan: "pro",
    opening: credits(100),
  });
  const { baseUrl, close } = await serveWorld(ctx.world);
  onTestFinished(async () => {
    close();
    ctx.close();
    await lab.close();
  });
  for (let n = 0; n < ROWS; n++)
    void ctx.world.table.write({ put: { pk: "FILLER", sk: String(n), text: "x".repeat(500) } });
  await ctx.world.table.write({ put: { pk: "FILLER", sk: "last" } });
  const file = join(folder, "state.sqlite");
  checkpoint(file);
  const later = () => new Date(Date.now() + 3_700_000);
  const whenChecked = () => ctx.health.schedule.run({ ...ctx.world, now: later });
  return { ...ctx, folder, file, baseUrl, ask: createSend(baseUrl, liveKey), whenChecked };
};

const verification = {
  method: "POST",
  path: "/v1/verify",
  body: { email: "ada.lovelace@valid.lab.mailproof.test" },
};

test("paid requests answer 503 and reads continue after a check finds damage under a running server", async () => {
  const { file, baseUrl, ask, whenChecked } = await given();
  const before = await ask(verification);
  const balance = (await ask({ method: "GET", path: "/v1/account" })).answer.data.credits;
  overwrite(file, 0xa5);
  await whenChecked();

  const refused = await ask(verification);
  const keyed = await ask({ ...verification, once: "k" });
  const health = await fetch(`${baseUrl}/health`);
  const read = await ask({ method: "GET", path: "/v1/account" });

  expect(before.status).toBe(200);
  expect(refused).toMatchObject({
    status: 503,
    answer: { error: { code: "UNAVAILABLE", money: "nothing_charged", retryable: true } },
  });
  expect(keyed).toMatchObject({ status: 503, answer: { error: { money: "retry_same_key" } } });
  expect([health.status, await health.json()]).toMatchObject([
    503,
    { status: "degraded", checks: { table: "failed", queue: "ok" } },
  ]);
  expect(read).toMatchObject({ status: 200, answer: { data: { credits: balance } } });
});

test("paid requests succeed again after a check finds no damage any more", async () => {
  const { ask, health, whenChecked } = await given();
  health.report("table", new Error("state.sqlite: disk I/O error"));
  const closed = await ask(verification);

  await whenChecked();

  expect([closed.status, (await ask(verification)).status]).toEqual([503, 200]);
});

test.each([
  ["zeros", 0],
  ["other bytes", 0xa5],
])(
  "the damage check finds pages overwritten with %s, and a read's error contains the file's name",
  async (_what, byte) => {
    const file = join(createFolder(), "state.sqlite");
    const folder = join(file, "..");
    const first = createSqliteTable(file, now);
    await Promise.all(
      Array.from({ length: ROWS }, (_row, n) =>
        first.write({ put: { pk: "P", sk: String(n).padStart(5, "0"), text: "x".repeat(500) } }),
      ),
    );
    first.close();
    const sound = await findDamage(folder, "table");
    overwrite(file, byte);
    const reported: string[] = [];
    const table = createSqliteTable(file, now, (error) => reported.push(error.message));

    const failures = new Set<string>();
    for (let n = 0; n < ROWS; n++)
      await table
        .get({ pk: "P", sk: String(n).padStart(5, "0") })
        .catch((error: Error) => failures.add(error.message));
    table.close();

    expect(sound).toBeNull();
    expect(await findDamage(folder, "table")).toContain(`${file} is damaged: `);
    expect([...failures].filter((message) => !message.startsWith(file))).toEqual([]);
    expect(failures.size).toBeGreaterThan(0);
    expect(new Set(reported)).toEqual(failures);
  },
);

test("the damage check finds the overwritten text of a row, which SQLite does not check", async () => {
  const file = join(createFolder(), "state.sqlite");
  const first = createSqliteTable(file, now);
  await first.write({ put: { pk: "P", sk: "1", text: "x".repeat(100_000) } });
  first.close();
  const handle = openSync(file, "r+");
  // The pages that the text of a long row goes on in; the first bytes of a page say which is the next.
  const last = statSync(file).size / 4096 - 1;
  writeSync(handle, Buffer.alloc(1_000, 0), 0, 1_000, last * 4096 - 2_000);

  expect(await findDamage(join(file, ".."), "table")).toContain("a row is not JSON");
});

test("the damage check finds a damaged page of an index", async () => {
  const file = join(createFolder(), "state.sqlite");
  createSqliteTable(file, now).close();
  const db = new DatabaseSync(file);
  const found = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'items_due'").get();
  db.close();
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(4096, 0xa5), 0, 4096, (Number(found?.["rootpage"]) - 1) * 4096);

  expect(await findDamage(join(file, ".."), "table")).toContain(`${file} is damaged: `);
});
