import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { QUEUE_LAYOUT } from "@mailproof/local/storage/schema";
import { createSqliteQueue } from "@mailproof/local/storage/sqlite-queue";
import { upgradeFile } from "@mailproof/local/storage/upgrade-file";
import { expect, onTestFinished, test } from "vitest";

// A queue file of release 0.1, in which messages had no group.

const VERSION_1 = `
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY, queue TEXT NOT NULL, body TEXT NOT NULL,
    visible_at INTEGER NOT NULL, receives INTEGER NOT NULL DEFAULT 0, receipt TEXT
  ) STRICT;
  CREATE INDEX messages_waiting ON messages (queue, visible_at);
  CREATE UNIQUE INDEX messages_receipt ON messages (receipt) WHERE receipt IS NOT NULL;
  PRAGMA user_version = 1`;

const NOW = Date.UTC(2026, 10, 21);
const chunks = { name: "chunks", visibilitySeconds: 30, receivesMax: 3, concurrency: 10 };

const givenOldFile = (waiting: number) => {
  const folder = mkdtempSync(join(tmpdir(), "mailproof-queue-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "queue.sqlite");
  const db = new DatabaseSync(file);
  db.exec(VERSION_1);
  const insert = db.prepare(
    "INSERT INTO messages (queue, body, visible_at, receives, receipt) VALUES (?, ?, ?, ?, ?)",
  );
  db.exec("BEGIN");
  for (let n = 0; n < waiting; n++) insert.run("chunks", String(n), NOW - 1, 0, null);
  db.exec("COMMIT");
  db.close();
  return {
    file,
    insert: (...row: [string, string, number, number, string | null]) => {
      const again = new DatabaseSync(file);
      again
        .prepare(
          "INSERT INTO messages (queue, body, visible_at, receives, receipt) VALUES (?, ?, ?, ?, ?)",
        )
        .run(...row);
      again.close();
    },
  };
};

const open = (file: string) => {
  upgradeFile(file, QUEUE_LAYOUT);
  const queue = createSqliteQueue(file, () => new Date(NOW));
  onTestFinished(() => queue.close());
  return queue;
};

test("messages of the earlier schema are handed out in their order", async () => {
  const queue = open(givenOldFile(3).file);

  expect((await queue.receive(chunks, { waitMs: 0 })).map(({ body }) => body)).toEqual([0, 1, 2]);
});

test("new messages of an account take turns with a backlog of the earlier schema", async () => {
  const queue = open(givenOldFile(2_000).file);
  await queue.sendMany("chunks", [{ body: "new", group: "acc_1" }]);

  const received = await queue.receive(chunks, { max: 2, waitMs: 0 });

  expect(new Set(received.map(({ body }) => body))).toEqual(new Set([0, "new"]));
});

test("a message that the earlier release had in hand comes back, and its count with it", async () => {
  const old = givenOldFile(0);
  old.insert("chunks", "7", NOW + 30_000, 1, "receipt_1");
  const queue = open(old.file);

  await queue.releaseAbandoned();

  expect(await queue.receive(chunks, { waitMs: 0 })).toMatchObject([{ body: 7, receiveCount: 2 }]);
});

test("a file of this release opens again and keeps whose turn it is", async () => {
  const { file } = givenOldFile(0);
  upgradeFile(file, QUEUE_LAYOUT);
  const first = createSqliteQueue(file, () => new Date(NOW));
  await first.sendMany("chunks", [
    { body: "a0", group: "a" },
    { body: "a1", group: "a" },
    { body: "b0", group: "b" },
  ]);
  await first.receive(chunks, { max: 1, waitMs: 0 });
  first.close();

  const [next] = await open(file).receive(chunks, { max: 1, waitMs: 0 });

  expect(next?.body).toBe("b0");
});
