import { streamPieces } from "../app/form.ts";
import { createRows, givenJobOf, verifyEmail } from "../things/export-jobs.ts";
import { createEmails, formatCsv } from "../things/jobs.ts";
import {
  type Errand,
  expectSame,
  expectSameAnswer,
  expectStatus,
  once,
  repeat,
  waitForJob,
} from "./errand.ts";
import { type Fleet, PART_ROWS } from "./fleet.ts";

export const verifyOne = (word: string, price: number): Errand =>
  async function* (fleet, name) {
    const sent = { body: { email: `${word}+${name}@example.com` }, ...once(name) };
    const { data } = yield* repeat(fleet, "POST /v1/verify", sent, 200);
    if (data.status === "pending") yield* waitForJob(fleet, data.job_id);
    return price;
  };

export const sendBatch: Errand = async function* (fleet, name) {
  const emails = [...createEmails(4), "greylisted@x.com", "blocked@x.com", "invalid@x.com"];
  const webhook_url = "https://hooks.example.com/done";
  const sent = { body: { emails, webhook_url }, ...once(name) };
  const { data } = yield* repeat(fleet, "POST /v1/verify/batch", sent, 202);
  const { progress } = yield* waitForJob(fleet, data.job_id);
  expectSame(progress.processed, emails.length);
  yield* download(fleet, data.job_id, emails.length);
  return emails.length - 1;
};

export const cancelBatch: Errand = async function* (fleet, name) {
  const emails = [...createEmails(5), "greylisted+1@x.com", "unknown@x.com"];
  const sent = { body: { emails }, ...once(name) };
  const { data } = yield* repeat(fleet, "POST /v1/verify/batch", sent, 202);
  const cancel = `POST /v1/jobs/${data.job_id}/cancel`;
  const cancelled = expectStatus(await fleet.ask(cancel), 200, 409);
  yield;
  // It ended before.
  if (cancelled.statusCode === 409) return emails.length;
  expectSame(cancelled.data, expectStatus(await fleet.ask(cancel), 200).data);
  return emails.length - cancelled.data.credits_refunded;
};

export const sendFile: Errand = async function* (fleet, name) {
  const emails = [...createEmails(6), "greylisted+2@x.com", "slow@x.com"];
  const what = "POST /v1/verify/file";
  const asked = { body: { action: "get_upload_url", file_name: "list.csv" } };
  const { file_key } = expectStatus(await fleet.ask(what, asked), 200).data;
  await fleet.blobs.put(file_key, streamPieces(formatCsv(emails)));
  yield;
  const sent = { body: { action: "process", file_key }, ...once(name) };
  const { data } = yield* repeat(fleet, what, sent, 202);
  yield* waitForJob(fleet, data.job_id);
  yield* download(fleet, data.job_id, emails.length);
  yield* erase(fleet, "ann1@x.com");
  expectStatus(await fleet.ask(`DELETE /v1/jobs/${data.job_id}`), 200);
  yield;
  expectStatus(await fleet.ask(`GET /v1/jobs/${data.job_id}`), 404, 410);
  return emails.length;
};

export const sendForm: Errand = async function* (fleet) {
  const form = [{ name: "file", fileName: "list.csv", content: formatCsv(createEmails(5)) }];
  const { data } = expectStatus(await fleet.ask("POST /v1/verify/file", { form }), 202);
  yield* waitForJob(fleet, data.job_id);
  return 5;
};

/** In each form, as an answer has it. */
async function* download({ ask }: Fleet, job: string, rows: number): AsyncGenerator<void, void> {
  const what = `GET /v1/jobs/${job}/download`;
  expectStatus(await ask(what, { query: { as: "spreadsheet" } }), 200);
  yield;
  expectSame(
    expectStatus(await ask(what), 200)
      .text.trim()
      .split("\n").length,
    rows + 1,
  );
  const { text } = expectStatus(await ask(what, { query: { format: "json" } }), 200);
  expectSame((JSON.parse(text) as Exported).rows.length, rows);
}

type Exported = { readonly rows: readonly unknown[] };

/**
 * Of so many rows, workers make the file, each a part of it. Where a release writes other columns it has a file of its own,
 * and each says it again.
 */
export const exportFile: Errand = async function* ({ ask, blobs, table, world, account }) {
  const result = await verifyEmail(world, "valid@example.com");
  const rows = createRows(result, EXPORTED_ROWS);
  const chunks = [0, 1, 2].map((at) => rows.slice(at * PART_ROWS, (at + 1) * PART_ROWS));
  const job = await givenJobOf({ world, table, account }, chunks, { id: world.newId("job") });
  const keys: string[] = [];
  while (keys.length < 6) {
    const query = { format: "json" };
    const response = expectStatus(await ask(`GET /v1/jobs/${job}/download`, { query }), 200, 409);
    const [key] = /exports\/[^?"]+/.exec(response.text) ?? [];
    if (key !== undefined) keys.push(key);
    yield;
  }
  const files = [...new Set(keys)];
  expectSame(files.length <= 2, true);
  for (const key of files) {
    const found = await blobs.get(key);
    const text = Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString();
    expectSame((JSON.parse(text) as Exported).rows.length, EXPORTED_ROWS);
  }
  return 0;
};

/** More than an answer has. */
const EXPORTED_ROWS = 5_001;

async function* erase({ ask }: Fleet, email: string): AsyncGenerator<void, void> {
  for (;;) {
    const { data } = expectStatus(await ask("DELETE /v1/data", { query: { email } }), 200, 202);
    if (data.complete) return;
    yield;
  }
}

export const find: Errand = async function* ({ ask }, name) {
  const body = { first_name: "Ann", last_name: `Lee${name}`, domain: "example.com" };
  const first = expectStatus(await ask("POST /v1/find", { body }), 200);
  const again = expectStatus(await ask("POST /v1/find", { body }), 200);
  expectSameAnswer(first, again);
  yield;
  return 5;
};
