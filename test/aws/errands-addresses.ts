import { streamPieces } from "../app/form.ts";
import type { TestResponse } from "../app/send.ts";
import { createEmails, formatCsv } from "../things/jobs.ts";
import {
  type Errand,
  once,
  repeat,
  require,
  requireSame,
  waitForJob,
  withoutCharge,
} from "./errand.ts";
import type { Fleet } from "./fleet.ts";

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
  requireSame(progress.processed, emails.length);
  yield* download(fleet, data.job_id, emails.length);
  return emails.length - 1;
};

export const cancelBatch: Errand = async function* (fleet, name) {
  const emails = [...createEmails(5), "greylisted+1@x.com", "unknown@x.com"];
  const sent = { body: { emails }, ...once(name) };
  const { data } = yield* repeat(fleet, "POST /v1/verify/batch", sent, 202);
  const cancel = `POST /v1/jobs/${data.job_id}/cancel`;
  const cancelled = require(await fleet.ask(cancel), 200, 409);
  yield;
  // It ended before.
  if (cancelled.statusCode === 409) return emails.length;
  requireSame(cancelled.data, require(await fleet.ask(cancel), 200).data);
  return emails.length - cancelled.data.credits_refunded;
};

export const sendFile: Errand = async function* (fleet, name) {
  const emails = [...createEmails(6), "greylisted+2@x.com", "slow@x.com"];
  const what = "POST /v1/verify/file";
  const asked = { body: { action: "get_upload_url", file_name: "list.csv" } };
  const { file_key } = require(await fleet.ask(what, asked), 200).data;
  await fleet.blobs.put(file_key, streamPieces(formatCsv(emails)));
  yield;
  const sent = { body: { action: "process", file_key }, ...once(name) };
  const { data } = yield* repeat(fleet, what, sent, 202);
  yield* waitForJob(fleet, data.job_id);
  yield* download(fleet, data.job_id, emails.length);
  yield* erase(fleet, "ann1@x.com");
  require(await fleet.ask(`DELETE /v1/jobs/${data.job_id}`), 200);
  yield;
  require(await fleet.ask(`GET /v1/jobs/${data.job_id}`), 404, 410);
  return emails.length;
};

export const sendForm: Errand = async function* (fleet) {
  const form = [{ name: "file", fileName: "list.csv", content: formatCsv(createEmails(5)) }];
  const { data } = require(await fleet.ask("POST /v1/verify/file", { form }), 202);
  yield* waitForJob(fleet, data.job_id);
  return 5;
};

const FORMS: readonly Readonly<Record<string, string>>[] = [
  { as: "spreadsheet" },
  {},
  // Of so many rows a worker makes it, in parts.
  { format: "json" },
];

/** Each form, and each twice: what one release has made, the other hands out. */
async function* download(
  { ask, blobs }: Fleet,
  job: string,
  rows: number,
): AsyncGenerator<void, void> {
  for (const query of FORMS) {
    const links: string[] = [];
    while (links.length < 2) {
      const response = await ask(`GET /v1/jobs/${job}/download`, { query });
      if (require(response, 200, 303, 409).statusCode === 409) yield;
      else links.push(findKey(response));
    }
    requireSame(links[0], links[1]);
    const [key = ""] = links;
    if (key === "") continue;
    const found = await blobs.get(key);
    const text = Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString();
    requireSame((JSON.parse(text) as { rows: unknown[] }).rows.length, rows);
  }
}

/** The blob that a link leads to. A CSV is in the answer itself. */
const findKey = ({ text, headers }: TestResponse): string =>
  /exports\/[^?"]+/.exec(`${headers["location"] ?? ""} ${text.slice(0, 2_000)}`)?.[0] ?? "";

async function* erase({ ask }: Fleet, email: string): AsyncGenerator<void, void> {
  for (;;) {
    const { data } = require(await ask("DELETE /v1/data", { query: { email } }), 200, 202);
    if (data.complete) return;
    yield;
  }
}

export const find: Errand = async function* ({ ask }, name) {
  const body = { first_name: "Ann", last_name: `Lee${name}`, domain: "example.com" };
  const first = require(await ask("POST /v1/find", { body }), 200);
  const again = require(await ask("POST /v1/find", { body }), 200);
  requireSame(withoutCharge(first), withoutCharge(again));
  yield;
  return 5;
};
