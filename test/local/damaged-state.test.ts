import {
  cpSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { createClient } from "@mailproof/client";
import { describe, expect, test } from "vitest";
import { createFolder, spawnNode, whenStarted } from "./running.ts";

// A folder whose state is missing or damaged, with a real server in a process of its own.

const EMAILS = Array.from(
  { length: 400 },
  (_row, n) => `p${n}@c00${(n % 9) + 1}.companies.lab.mailproof.test`,
);

/** Used by a server that was then killed, or stopped. */
const givenUsed = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM") => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  const client = createClient({ baseUrl: ready.base_url, key: ready.live_key });
  const { job_id } = await client.verifyBatch({ emails: EMAILS });
  await client.waitForJob({ id: job_id });
  await stop(signal);
  return { folder, key: ready.live_key, job: job_id };
};

const whyNotStarted = (folder: string, env = {}) =>
  whenStarted(folder, [], env).then(
    async ({ stop }) => {
      await stop("SIGKILL");
      return "it started";
    },
    (error: Error) => error.message,
  );

/** Pages in the middle of the file, filled with what is no page. */
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
  const { folder } = await givenUsed();
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

describe("a folder that was used", () => {
  let started: ReturnType<typeof startBroken> | undefined;

  test.each(BREAKS)(
    "is refused when %s, with what to do, and nothing is made anew",
    async (name, _breakIt, why) => {
      started ??= startBroken();

      const message = (await started).get(name);

      expect(message).toContain(why);
      expect(message).toMatch(/[Rr]estore/);
    },
  );
});

test("a folder whose -wal file was deleted after a kill is refused: acknowledged writes are missing", async () => {
  const { folder } = await givenUsed("SIGKILL");
  rmSync(join(folder, "state.sqlite-wal"));

  expect(await whyNotStarted(folder)).toContain("lacks state.sqlite-wal.");
});
