import { streamPieces } from "../app/form.ts";
import type { TestResponse } from "../app/send.ts";
import { createEmails, formatCsv } from "../things/jobs.ts";
import type { Fleet } from "./fleet.ts";

// What customers do, step by step; between two steps others do theirs, and workers work. Each says in the end what it cost, in
// credits, by the price list alone.

export type Errand = (fleet: Fleet, name: string) => AsyncGenerator<void, number>;

class Unexpected extends Error {}

const require = (response: TestResponse, ...statuses: readonly number[]): TestResponse => {
  if (statuses.includes(response.statusCode)) return response;
  throw new Unexpected(`${response.statusCode} ${response.text.slice(0, 500)}`);
};

const requireSame = (one: unknown, other: unknown): void => {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  if (first !== second) throw new Unexpected(`${first} and then ${second}`);
};

const once = (key: string) => ({ headers: { "idempotency-key": key } });

/** What a repeat may not change. */
const withoutCharge = ({ data }: TestResponse): object => {
  const ofCharge = ["credits_used", "credits_remaining", "idempotent_replay", "message"];
  return Object.fromEntries(Object.entries(data).filter(([name]) => !ofCharge.includes(name)));
};

/** The same request under the same key, to whichever release: one answer, charged once. */
async function* repeat(
  { ask }: Fleet,
  what: string,
  sent: { readonly body: unknown; readonly headers: Readonly<Record<string, string>> },
  status: number,
): AsyncGenerator<void, TestResponse> {
  const first = require(await ask(what, sent), status);
  for (let times = 0; times < 2; times++) {
    yield;
    const again = require(await ask(what, sent), status);
    if (again.data.credits_used !== 0) throw new Unexpected(`${what} was charged again`);
    // A pending one has a result meanwhile.
    if (first.data.status !== "pending") requireSame(withoutCharge(first), withoutCharge(again));
  }
  return first;
}

async function* waitForJob({ ask }: Fleet, id: string): AsyncGenerator<void, any> {
  for (;;) {
    const { data } = require(await ask(`GET /v1/jobs/${id}`), 200);
    if (data.status === "completed") return data;
    yield;
  }
}

const verifyOne = (word: string, price: number): Errand =>
  async function* (fleet, name) {
    const sent = { body: { email: `${word}+${name}@example.com` }, ...once(name) };
    const { data } = yield* repeat(fleet, "POST /v1/verify", sent, 200);
    if (data.status === "pending") yield* waitForJob(fleet, data.job_id);
    return price;
  };

const sendBatch: Errand = async function* (fleet, name) {
  const emails = [...createEmails(4), "greylisted@x.com", "blocked@x.com", "invalid@x.com"];
  const webhook_url = "https://hooks.example.com/done";
  const sent = { body: { emails, webhook_url }, ...once(name) };
  const { data } = yield* repeat(fleet, "POST /v1/verify/batch", sent, 202);
  const { progress } = yield* waitForJob(fleet, data.job_id);
  requireSame(progress.processed, emails.length);
  yield* download(fleet, data.job_id, emails.length);
  return emails.length - 1;
};

const cancelBatch: Errand = async function* (fleet, name) {
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

const sendFile: Errand = async function* (fleet, name) {
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

const sendForm: Errand = async function* (fleet) {
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

const find: Errand = async function* ({ ask }, name) {
  const body = { first_name: "Ann", last_name: `Lee${name}`, domain: "example.com" };
  const first = require(await ask("POST /v1/find", { body }), 200);
  const again = require(await ask("POST /v1/find", { body }), 200);
  requireSame(withoutCharge(first), withoutCharge(again));
  yield;
  return 5;
};

const check: Errand = async function* (fleet, name) {
  const sent = { body: { domain: "example.com", refresh: true }, ...once(name) };
  const { data } = yield* repeat(fleet, "POST /v1/deliverability/check", sent, 200);
  const { data: read } = require(await fleet.ask(
    `GET /v1/deliverability/checks/${data.check_id}`,
  ), 200);
  requireSame(read.score, data.score);
  return 10;
};

const monitor: Errand = async function* ({ ask }) {
  const path = "/v1/deliverability/monitors";
  const { data } = require(await ask(`POST ${path}`, { body: { domain: "weak.example" } }), 201);
  for (;;) {
    yield;
    const { monitors } = require(await ask(`GET ${path}`), 200).data;
    if (monitors.some((one: any) => one.last_check)) break;
  }
  require(await ask(`DELETE ${path}/${data.monitor_id}`), 200, 204);
  return 10;
};

const useKeys: Errand = async function* ({ ask }) {
  const made = require(await ask("POST /v1/api-keys", {
    body: { name: "Other", mode: "live" },
  }), 201);
  yield;
  const { key, key_id } = made.data;
  require(await ask("GET /v1/account", { key }), 200);
  require(await ask("POST /v1/verify", { key, body: { email: "valid+keys@example.com" } }), 200);
  yield;
  require(await ask(`DELETE /v1/api-keys/${key_id}`), 200, 204);
  require(await ask("GET /v1/account", { key }), 401);
  return 1;
};

const recordActivity: Errand = async function* ({ ask, world }, name) {
  const email = `ann@${name}.example`;
  const occurred_at = new Date(world.now().getTime() - 3_600_000).toISOString();
  const event = { id: `${name}-1`, type: "open", email, occurred_at };
  const body = { events: [event] };
  require(await ask("POST /v1/activity/events", { body }), 200, 202);
  yield;
  // Each is counted once.
  require(await ask("POST /v1/activity/events", { body }), 200, 202);
  require(await ask(`GET /v1/activity/${encodeURIComponent(email)}`), 200);
  return 0;
};

export const ERRANDS: readonly Errand[] = [
  verifyOne("valid", 1),
  verifyOne("invalid", 1),
  verifyOne("greylisted", 1),
  verifyOne("slow", 1),
  verifyOne("blocked", 0),
  sendBatch,
  cancelBatch,
  sendFile,
  sendForm,
  find,
  check,
  monitor,
  useKeys,
  recordActivity,
];
