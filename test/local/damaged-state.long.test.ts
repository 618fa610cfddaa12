import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@mailproof/client";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import { expect, test } from "vitest";
import { createFolder, spawnNode, whenStarted } from "../servers/running.ts";

// A folder whose state is missing or damaged, with a real server in its own process.

const EMAILS = Array.from(
  { length: 400 },
  (_row, n) => `p${n}@c00${(n % 9) + 1}.companies.lab.mailproof.test`,
);

/** Used by a server that was then stopped. */
const givenUsed = async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const client = createClient({ baseUrl: ready.base_url, key: ready.live_key });
  const { job_id } = await client.verifyBatch({ emails: EMAILS });
  await client.waitForJob({ id: job_id });
  await stop("SIGTERM");
  return folder;
};

/** Pages in the middle of the file, filled with what is not a page. */
const overwritePages = (file: string, byte: number) => {
  const { size } = statSync(file);
  const handle = openSync(file, "r+");
  for (let page = Math.floor(size / 4096 / 4); page < (size / 4096) * 0.75; page++)
    writeSync(handle, Buffer.alloc(4096, byte), 0, 4096, page * 4096);
};

const writeEmptyDatabase = (file: string) => {
  const db = new DatabaseSync(file);
  db.exec("CREATE TABLE another (one)");
  db.close();
};

const remove = (name: string) => (folder: string) =>
  rmSync(join(folder, name), { recursive: true });

type Break = (folder: string) => void;

const BREAKS: readonly (readonly [name: string, breakIt: Break, why: string])[] = [
  ["state.sqlite is gone", remove("state.sqlite"), "lacks state.sqlite."],
  ["queue.sqlite is gone", remove("queue.sqlite"), "lacks queue.sqlite."],
  ["secrets.json is gone", remove("secrets.json"), "lacks secrets.json."],
  ["blobs is gone", remove("blobs"), "lacks blobs."],
  ["demo.json is gone", remove("demo.json"), "lacks demo.json."],
  [
    "both databases are gone",
    (folder) => ["state.sqlite", "queue.sqlite"].forEach((name) => remove(name)(folder)),
    "lacks state.sqlite and queue.sqlite.",
  ],
  [
    "state.sqlite is empty",
    (folder) => truncateSync(join(folder, "state.sqlite"), 0),
    "lacks state.sqlite.",
  ],
  [
    "state.sqlite is cut in half",
    (folder) => {
      const file = join(folder, "state.sqlite");
      truncateSync(file, Math.floor(statSync(file).size / 8192) * 4096);
    },
    "state.sqlite",
  ],
  [
    "state.sqlite has pages of zeros",
    (folder) => overwritePages(join(folder, "state.sqlite"), 0),
    "state.sqlite",
  ],
  [
    "state.sqlite has pages of other bytes",
    (folder) => overwritePages(join(folder, "state.sqlite"), 0xa5),
    "state.sqlite",
  ],
  [
    "state.sqlite is no database",
    (folder) => writeFileSync(join(folder, "state.sqlite"), "x".repeat(50_000)),
    "state.sqlite: file is not a database",
  ],
  [
    "queue.sqlite is no database",
    (folder) => writeFileSync(join(folder, "queue.sqlite"), "x".repeat(50_000)),
    "queue.sqlite: file is not a database",
  ],
  [
    "secrets.json is damaged",
    (folder) => writeFileSync(join(folder, "secrets.json"), "{"),
    "secrets.json cannot be read",
  ],
  [
    "state.sqlite is the one of another folder",
    (folder) => {
      const handle = join(folder, "..", "other.sqlite");
      rmSync(join(folder, "state.sqlite"));
      writeEmptyDatabase(handle);
      cpSync(handle, join(folder, "state.sqlite"));
    },
    "lacks what was written to it last",
  ],
];

/** What a start with each of the broken folders comes to. */
const startBroken = async (): Promise<ReadonlyMap<string, string>> => {
  const folder = await givenUsed();
  const copies = createFolder();
  const broken = BREAKS.map(([, breakIt], n) => {
    const copy = join(copies, String(n), "copy");
    cpSync(folder, copy, { recursive: true });
    breakIt(copy);
    return copy;
  });
  const child = spawnNode("test/local/start-folders.ts", broken, {});
  const [printed, logged] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (printed === "") throw new Error(logged);
  const messages = JSON.parse(printed) as string[];
  return new Map(BREAKS.map(([name], n) => [name, messages[n] ?? ""]));
};

let started: ReturnType<typeof startBroken> | undefined;

test.each(BREAKS)(
  "the server refuses a used folder when %s, states the remedy and creates nothing",
  async (name, _breakIt, why) => {
    started ??= startBroken();

    const message = (await started).get(name);

    expect(message).toContain(why);
    expect(message).toMatch(/[Rr]estore/);
  },
);

/** A table whose last writes stand in its log alone, as a kill leaves it. */
const givenKilled = async () => {
  const folder = createFolder();
  const file = join(folder, "state.sqlite");
  const table = createSqliteTable(file, () => new Date());
  // No checkpoint goes beyond what a reader sees.
  const reader = new DatabaseSync(file);
  reader.exec("BEGIN; SELECT count(*) FROM items");
  for (let n = 0; n < 50; n++) await table.write({ put: { pk: "A", sk: `${n}` } });
  const copy = join(createFolder(), "copy");
  cpSync(folder, copy, { recursive: true });
  reader.close();
  table.close();
  return copy;
};

const damageLog =
  (share: number, damage: (file: string, at: number) => void): Break =>
  (folder) => {
    const file = join(folder, "state.sqlite-wal");
    damage(file, Math.floor(statSync(file).size * share));
  };

const overwrite = (file: string, at: number) => {
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(100, 0xa5), 0, 100, at);
};

const openState = (folder: string) => () =>
  createSqliteTable(join(folder, "state.sqlite"), () => new Date()).close();

test.each<[string, Break]>([
  ["its log is gone", remove("state.sqlite-wal")],
  [
    "all files of its log are gone",
    (folder) => ["state.sqlite-wal", "state.sqlite-shm"].forEach((name) => remove(name)(folder)),
  ],
  ["its log is cut", damageLog(0.5, truncateSync)],
  ["its log is damaged in the middle", damageLog(0.5, overwrite)],
  ["its log is damaged at the end", damageLog(0.99, overwrite)],
])(
  "the server refuses a database that lacks acknowledged writes because %s",
  async (_what, lose) => {
    const folder = await givenKilled();
    lose(folder);

    const refusal = /state\.sqlite lacks what was written to it last[^]*Restore/;
    expect(openState(folder)).toThrow(refusal);
    expect(openState(folder)).toThrow(refusal);
  },
);

test.each<[string, Break]>([
  ["nothing else happened", () => {}],
  [
    "half of a transaction follows in its log",
    (folder) => appendFileSync(join(folder, "state.sqlite-wal"), Buffer.alloc(3_000, 7)),
  ],
  ["its count was never written", remove("state.sqlite-commits")],
  [
    "its count is zeros",
    (folder) => writeFileSync(join(folder, "state.sqlite-commits"), "\0".repeat(34)),
  ],
  [
    "another program wrote its log into it",
    (folder) => new DatabaseSync(join(folder, "state.sqlite")).close(),
  ],
])("the server opens a database after a kill or a power loss when %s", async (_what, change) => {
  const folder = await givenKilled();
  change(folder);

  expect(openState(folder)).not.toThrow();
});

test("a process killed at any moment leaves no state that counts as damage", async () => {
  const file = join(createFolder(), "notes.sqlite");
  for (let kill = 0; kill < 12; kill++) {
    const child = spawnNode("test/local/write-until-killed.ts", [file], {});
    await once(child.stdout, "data");
    await setTimeout(kill * 3);
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  expect(() => createSqliteTable(file, () => new Date()).close()).not.toThrow();
  expect(readFileSync(`${file}-commits`, "utf8")).toMatch(/^\d*[1-9]\d*\n/);
});
