import { expect, test } from "vitest";
import { whenQuiet } from "../app/drain-queues.ts";
import { streamPieces } from "../app/form.ts";
import { listOutboxEvents, readCredits } from "../app/ledger.ts";
import { CURRENT, findReleaseAbsence, loadLastRelease, toSharedJson } from "../app/release.ts";
import type { TestResponse } from "../app/send.ts";
import { describeUnless } from "../runner/describe-when.ts";
import { createRows, givenJobOf, verifyEmail } from "../things/export-jobs.ts";
import { createEmails, formatCsv } from "../things/jobs.ts";
import { createMail, TESTS } from "../things/mail-tests.ts";
import { createDailyReport } from "../things/reports.ts";
import { createReceipt, createSesFields, SES_ID } from "../things/ses.ts";
import { HOOK, verifyCall } from "../things/webhooks.ts";
import { type Fleet, givenFleet, PART_ROWS } from "./fleet.ts";

// What customers do, step by step; between two steps others do theirs, and workers work. Each says in the end what it cost, in
// credits, by the price list alone.

type Errand = (fleet: Fleet, name: string) => AsyncGenerator<void, number>;

class Unexpected extends Error {}

const expectStatus = (response: TestResponse, ...statuses: readonly number[]): TestResponse => {
  if (statuses.includes(response.statusCode)) return response;
  throw new Unexpected(`${response.statusCode} ${response.text.slice(0, 500)}`);
};

const expectSame = (one: unknown, other: unknown): void => {
  const [first, second] = [JSON.stringify(one), JSON.stringify(other)];
  if (first !== second) throw new Unexpected(`${first} and then ${second}`);
};

/** Two answers to one request, whichever release gave each. */
const expectSameAnswer = (one: TestResponse, other: TestResponse): void =>
  expectSame(toSharedJson(withoutCharge(one)), toSharedJson(withoutCharge(other)));

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
  const first = expectStatus(await ask(what, sent), status);
  for (let times = 0; times < 2; times++) {
    yield;
    const again = expectStatus(await ask(what, sent), status);
    if (again.data.credits_used !== 0) throw new Unexpected(`${what} was charged again`);
    // A pending one has a result meanwhile.
    if (first.data.status !== "pending") expectSameAnswer(first, again);
  }
  return first;
}

async function* waitForJob({ ask }: Fleet, id: string): AsyncGenerator<void, any> {
  for (;;) {
    const { data } = expectStatus(await ask(`GET /v1/jobs/${id}`), 200);
    if (data.status === "completed") return data;
    yield;
  }
}

const check: Errand = async function* (fleet, name) {
  const sent = { body: { domain: "example.com", refresh: true }, ...once(name) };
  const { data } = yield* repeat(fleet, "POST /v1/deliverability/check", sent, 200);
  const { data: read } = expectStatus(
    await fleet.ask(`GET /v1/deliverability/checks/${data.check_id}`),
    200,
  );
  expectSame(read.score, data.score);
  return 10;
};

const monitor: Errand = async function* ({ ask }) {
  const path = "/v1/deliverability/monitors";
  const { data } = expectStatus(
    await ask(`POST ${path}`, { body: { domain: "weak.example" } }),
    201,
  );
  for (;;) {
    yield;
    const { monitors } = expectStatus(await ask(`GET ${path}`), 200).data;
    if (monitors.some((one: any) => one.last_check)) break;
  }
  expectStatus(await ask(`DELETE ${path}/${data.monitor_id}`), 200, 204);
  return 10;
};

const useKeys: Errand = async function* ({ ask }) {
  const made = expectStatus(
    await ask("POST /v1/api-keys", {
      body: { name: "Other", mode: "live" },
    }),
    201,
  );
  yield;
  const { key, key_id } = made.data;
  expectStatus(await ask("GET /v1/account", { key }), 200);
  expectStatus(
    await ask("POST /v1/verify", { key, body: { email: "valid+keys@example.com" } }),
    200,
  );
  yield;
  expectStatus(await ask(`DELETE /v1/api-keys/${key_id}`), 200, 204);
  expectStatus(await ask("GET /v1/account", { key }), 401);
  return 1;
};

const recordActivity: Errand = async function* ({ ask, world }, name) {
  const email = `ann@${name}.example`;
  const occurred_at = new Date(world.now().getTime() - 3_600_000).toISOString();
  const event = { id: `${name}-1`, type: "open", email, occurred_at };
  const body = { events: [event] };
  expectStatus(await ask("POST /v1/activity/events", { body }), 200, 202);
  yield;
  // Each is counted once.
  expectStatus(await ask("POST /v1/activity/events", { body }), 200, 202);
  expectStatus(await ask(`GET /v1/activity/${encodeURIComponent(email)}`), 200);
  return 0;
};

/** Amazon SES stores the mail, and a message says so. */
const testMail: Errand = async function* ({ ask, blobs, queue, world }) {
  const { data } = expectStatus(await ask(`POST ${TESTS}`), 201);
  yield;
  const mail = Buffer.from(createMail(world.now()).raw).toString();
  await blobs.put(`inbound/${SES_ID}`, streamPieces(createSesFields() + mail));
  await queue.sendMany("inbound-mail", [{ body: createReceipt([data.address]) }]);
  for (;;) {
    yield;
    const read = expectStatus(await ask(`GET ${TESTS}/${data.test_id}`), 200).data;
    if (read.status === "received") return 2;
  }
};

const uploadReport: Errand = async function* ({ ask }) {
  const content = Buffer.from(createDailyReport()).toString("base64");
  const what = "POST /v1/deliverability/reports";
  const first = expectStatus(await ask(what, { body: { content } }), 201);
  yield;
  // The same report counts once.
  expectStatus(await ask(what, { body: { content } }), 200, 201);
  yield;
  const { domain } = first.data;
  expectStatus(await ask(`GET /v1/deliverability/domains/${domain}/reports`), 200);
  return 0;
};

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
  expectSame(progress.processed, emails.length);
  yield* download(fleet, data.job_id, emails.length);
  return emails.length - 1;
};

const cancelBatch: Errand = async function* (fleet, name) {
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

const sendFile: Errand = async function* (fleet, name) {
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

const sendForm: Errand = async function* (fleet) {
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
const exportFile: Errand = async function* ({ ask, blobs, table, world, account }) {
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

const find: Errand = async function* ({ ask }, name) {
  const body = { first_name: "Ann", last_name: `Lee${name}`, domain: "example.com" };
  const first = expectStatus(await ask("POST /v1/find", { body }), 200);
  const again = expectStatus(await ask("POST /v1/find", { body }), 200);
  expectSameAnswer(first, again);
  yield;
  return 5;
};

// Goal: whichever of two releases gets a request or a message during a deployment, customers notice nothing.
// Method: the whole journey over the emulators, its steps in a drawn order and each by a drawn release.

const ERRANDS: readonly Errand[] = [
  verifyOne("valid", 1),
  verifyOne("invalid", 1),
  verifyOne("greylisted", 1),
  verifyOne("slow", 1),
  verifyOne("blocked", 0),
  sendBatch,
  cancelBatch,
  sendFile,
  sendForm,
  exportFile,
  find,
  check,
  monitor,
  useKeys,
  recordActivity,
  testMail,
  uploadReport,
];

const MINUTE_MS = 60_000;
const STEPS_MAX = 800;

/** Takes a step of one errand or another until all are done. Returns what they cost together. */
const runErrands = async (fleet: Fleet): Promise<number> => {
  const { chance, drawOne, work, reconcile, later } = fleet;
  const open = ERRANDS.map((errand, at) => errand(fleet, `errand-${at}`));
  let price = 0;
  for (let step = 0; open.length > 0; step++) {
    if (step > STEPS_MAX) throw new Error(`${open.length} errands never end`);
    const errand = drawOne(open);
    const { done, value } = await errand.next();
    if (done) open.splice(open.indexOf(errand), 1);
    price += done ? value : 0;
    if (chance() < 0.4) await work();
    if (chance() < 0.2) later(MINUTE_MS);
    if (chance() < 0.2) await reconcile();
  }
  return price;
};

const FAILURES: readonly string[] = ["failure", "message_failed", "repair_failed", "row_failed"];

describeUnless(findReleaseAbsence(), "a fleet of today's and the last release's Lambdas", () => {
  test.each([1, 2])(
    "the mixed fleet completes the journey at its price and leaves nothing behind: seed %i",
    async (seed) => {
      const last = await loadLastRelease();
      const fleet = await givenFleet(seed, [last, CURRENT]);
      const subscription = { url: HOOK, events: ["job.completed"] };
      const { data } = await fleet.ask("POST /v1/webhooks", { body: subscription });

      const price = await runErrands(fleet);
      await whenQuiet(fleet);

      expect(fleet.wrong).toEqual([]);
      expect(fleet.served).toEqual(new Set([last.name, CURRENT.name]));
      expect(await readCredits(fleet)).toMatchObject({
        available: fleet.opening - price,
        held: 0,
      });
      expect((await fleet.audit()).map(({ ok }) => ok)).toEqual([true, true]);
      expect(await fleet.queue.countDeadLetters()).toBe(0);
      expect(fleet.logged.filter(({ event }) => FAILURES.includes(event))).toEqual([]);
      const calls = fleet.servers.received.filter(({ url }) => url === HOOK);
      const reported = new Set(calls.map(({ headers }) => headers["webhook-id"]));
      expect(reported.size).toBe(listOutboxEvents(fleet).length);
      for (const call of calls) verifyCall(data.secret, call);
    },
  );
});
