import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, inflateRawSync } from "node:zlib";
import { createClient } from "@mailproof/client/client";
import { expect, test } from "vitest";
import { createFolder, whenCommanded, whenStarted } from "../servers/running.ts";

// Goal: after an erasure no byte of the state folder shows the address. Method: a real server stores it in every way that
// it can; then each file is searched as it lies there, also what was deleted, the log of SQLite, and inside of what is
// compressed. Before the erasure the same search finds it in each of these places.

const LOCAL_PART = "zachary.quill";
const DOMAIN = "valid.lab.mailproof.test";
const EMAIL = `${LOCAL_PART}@${DOMAIN}`;

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const BASE64 = /[A-Za-z0-9+/]{32,}/g;

/** What the text of this base64 was before it was compressed, as far as it can be read. */
const inflate = (base64: string): string => {
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH };
    return inflateRawSync(Buffer.from(base64, "base64"), options).toString();
  } catch {
    return "";
  }
};

/** The files that show the address, and how. */
const search = (folder: string): string[] =>
  listFiles(folder).flatMap((file) => {
    const bytes = readFileSync(file).toString("latin1");
    const name = file.slice(folder.length + 1).replace(/^(blobs\/\w+)\/.*/, "$1");
    const isPlain = bytes.toLowerCase().includes(LOCAL_PART);
    const isPacked = [...bytes.matchAll(BASE64)].some(([run]) => inflate(run).includes(LOCAL_PART));
    return [...(isPlain ? [`${name} plain`] : []), ...(isPacked ? [`${name} compressed`] : [])];
  });

const useEverything = async (url: string, key: string): Promise<void> => {
  const client = createClient({ baseUrl: url, key });
  await client.verifyEmail({ email: EMAIL }, { idempotencyKey: "once" });
  await client.verifyEmail({ email: EMAIL, options: { include_evidence: true } });
  await client.findEmail({ first_name: "Zachary", last_name: "Quill", domain: DOMAIN });
  await client.recordActivity({
    events: [{ id: "1", type: "open", email: EMAIL, occurred_at: new Date().toISOString() }],
  });
  const form = new FormData();
  const list = `name,email\nZachary,${EMAIL}\nAnn,ann@${DOMAIN}\nAgain,${EMAIL}\n`;
  form.append("file", new Blob([list]), "list.csv");
  const response = await fetch(`${url}/v1/verify/file`, {
    method: "POST",
    headers: { "x-api-key": key },
    body: form,
  });
  const { data } = (await response.json()) as { data: { job_id: string } };
  const batch = await client.verifyBatch({ emails: [EMAIL, `bo@${DOMAIN}`] });
  await client.waitForJob({ id: batch.job_id });
  await client.waitForJob({ id: data.job_id });
};

test("no byte of the state folder contains an address after an operator erased it beside a running server", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  await useEverything(ready.base_url, ready.live_key);
  expect(search(folder)).toEqual(
    expect.arrayContaining(["blobs/inputs plain", "blobs/uploads plain"]),
  );
  expect(search(folder).filter((one) => one.startsWith("state.sqlite"))).not.toEqual([]);

  const { code, out, err } = await whenCommanded(folder, "admin", "erase", "--email", EMAIL);

  expect(err).toBe("");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    complete: true,
    open_jobs: [],
    erased: { activity_records: 1, job_rows: 3 },
  });
  expect(search(folder)).toEqual([]);
  await stop("SIGTERM");
  expect(search(folder)).toEqual([]);
});

test("no byte of the state folder contains an address after its account erased it", async () => {
  const folder = createFolder();
  const { ready, stop } = await whenStarted(folder);
  await useEverything(ready.base_url, ready.live_key);
  const client = createClient({ baseUrl: ready.base_url, key: ready.live_key });

  const { complete } = await client.eraseData({ email: EMAIL });

  expect(complete).toBe(true);
  expect(search(folder)).toEqual([]);
  await stop("SIGTERM");
});
