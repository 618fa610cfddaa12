import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { basename, join } from "node:path";
import { createClient } from "@mailproof/client";
import { expect, test } from "vitest";
import { createFolder, whenCommanded, whenRunIn, whenStarted } from "../servers/running.ts";

const LIST = [
  "Name,E-Mail",
  '"Lovelace, Ada",ada.lovelace@valid.lab.mailproof.test',
  "Nobody,nobody@valid.lab.mailproof.test",
].join("\r\n");

const createBackupClient = ({ base_url, live_key }: { base_url: string; live_key: string }) =>
  createClient({ baseUrl: base_url, key: live_key });
type Client = ReturnType<typeof createBackupClient>;

const getRows = async (client: Client, id: string): Promise<string> => {
  const { stream } = await client.download({ id });
  return new Response(stream).text();
};

/** Callers who send the next batch when they have the answer to the last, and note every answer. */
const underLoad = (client: Client, callers: number) => {
  const acknowledged: string[] = [];
  let stopped = false;
  const call = async () => {
    while (!stopped) {
      const n = acknowledged.length;
      const { job_id } = await client.verifyBatch({
        emails: [`ada.lovelace@c000${(n % 9) + 1}.companies.lab.mailproof.test`],
      });
      acknowledged.push(job_id);
    }
  };
  const calls = Promise.all(Array.from({ length: callers }, call));
  const atLeast = async (count: number) => {
    while (acknowledged.length < count)
      await Promise.race([calls, new Promise((resolve) => setTimeout(resolve, 10))]);
  };
  const end = async () => {
    stopped = true;
    await calls;
  };
  return { acknowledged, atLeast, end };
};

test("a server starts consistently from a backup beside a running server, with every acknowledged write", async () => {
  const folder = createFolder();
  const copy = join(createFolder(), "saved");
  const first = await whenStarted(folder);
  const client = createBackupClient(first.ready);
  const list = await client.verifyFile(new Blob([LIST]), { name: "own.csv" });
  const rows = await getRows(client, list.job.job_id);
  const load = underLoad(client, 4);
  await load.atLeast(20);

  const before = [...load.acknowledged];
  const saved = await whenCommanded(folder, "admin", "backup", "--to", copy);
  await load.atLeast(load.acknowledged.length + 8);
  await load.end();
  await first.stop("SIGKILL");
  const shown = readdirSync(copy).filter((name) => statSync(join(copy, name)).mode & 0o077);
  const audited = await whenRunIn(copy, "admin", "audit");
  const second = await whenStarted(copy);
  const restored = createBackupClient(second.ready);
  const jobs = await Array.fromAsync(restored.jobs());

  expect(saved.code).toBe(0);
  expect(JSON.parse(saved.out)).toMatchObject({ folder: copy, files: expect.any(Number) });
  expect(shown).toEqual([]);
  expect(JSON.parse(audited.out)).toMatchObject({ ok: true, violations: [] });
  expect(second.ready.live_key).toBe(first.ready.live_key);
  expect(jobs.map(({ job_id }) => job_id)).toEqual(expect.arrayContaining(before));
  // A row of the list's own columns is read from the stored input.
  expect(await getRows(restored, list.job.job_id)).toBe(rows);
  await Promise.all(before.map((id) => restored.waitForJob({ id })));
});

test("a backup never overwrites an existing folder and refuses a folder without Mailproof", async () => {
  const [folder, copy] = [createFolder(), createFolder()];
  mkdirSync(join(copy, "there"));
  const nothing = await whenRunIn(folder, "admin", "backup", "--to", join(copy, "new"));
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");

  const over = await whenRunIn(folder, "admin", "backup", "--to", join(copy, "there"));

  expect(nothing).toMatchObject({
    code: 2,
    err: expect.stringContaining("has no Mailproof state"),
  });
  expect(over).toMatchObject({ code: 2, err: expect.stringContaining("already exists") });
});

test("the backup command --keep creates a new folder each time and removes only the oldest of these folders", async () => {
  const [folder, parent] = [createFolder(), createFolder()];
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");
  const old = ["mailproof-2026-01-01T00-00-00-000Z", "mailproof-2026-01-02T00-00-00-000Z"];
  for (const name of [...old, "mailproof-by-hand"]) mkdirSync(join(parent, name));

  const saved = await whenRunIn(folder, "admin", "backup", "--to", parent, "--keep", "2");
  const wrong = await whenRunIn(folder, "admin", "backup", "--to", parent, "--keep", "0");

  expect(JSON.parse(saved.out)).toMatchObject({ removed: [old[0]] });
  const { folder: made } = JSON.parse(saved.out) as { folder: string };
  expect(readdirSync(parent).toSorted()).toEqual([old[1], basename(made), "mailproof-by-hand"]);
  expect(JSON.parse((await whenRunIn(made, "admin", "audit")).out)).toMatchObject({ ok: true });
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("from 1 to 999") });
});

test("an incomplete backup is refused at a start and does not prevent the next backup", async () => {
  const folder = createFolder();
  const copy = join(createFolder(), "saved");
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");
  mkdirSync(join(`${copy}.unfinished`, "blobs"), { recursive: true });

  const { code } = await whenRunIn(folder, "admin", "backup", "--to", copy);
  const audited = await whenRunIn(copy, "admin", "audit");

  expect(code).toBe(0);
  expect(JSON.parse(audited.out)).toMatchObject({ ok: true, accounts: 1 });
});

test("a backup refuses damaged state", async () => {
  const folder = createFolder();
  const copy = join(createFolder(), "saved");
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");
  const file = join(folder, "state.sqlite");
  truncateSync(file, statSync(file).size - 4096);

  const { code, err } = await whenRunIn(folder, "admin", "backup", "--to", copy);

  expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("state.sqlite") });
  expect(existsSync(copy)).toBe(false);
});

test("a command refuses a folder with a missing part, as the server does, and creates nothing", async () => {
  const folder = createFolder();
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "A");
  rmSync(join(folder, "secrets.json"));

  const { code, err } = await whenRunIn(folder, "admin", "accounts", "create", "--name", "B");

  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining("lacks secrets.json"),
  });
  expect(existsSync(join(folder, "secrets.json"))).toBe(false);
});

test("a failed backup prints its folder", async () => {
  const folder = createFolder();
  await whenRunIn(folder, "admin", "accounts", "create", "--name", "Acme");

  const { code, err } = await whenRunIn(folder, "admin", "backup", "--to", "/dev/null/backup");

  expect([code, err]).toEqual([
    1,
    expect.stringContaining("The backup to /dev/null/backup failed: "),
  ]);
});
