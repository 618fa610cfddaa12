import { streamPieces } from "../app/form.ts";
import { createMail, TESTS } from "../things/mail-tests.ts";
import { createDailyReport } from "../things/reports.ts";
import { createReceipt, createSesFields, SES_ID } from "../things/ses.ts";
import { type Errand, expectSame, expectStatus, once, repeat } from "./errand.ts";

export const check: Errand = async function* (fleet, name) {
  const sent = { body: { domain: "example.com", refresh: true }, ...once(name) };
  const { data } = yield* repeat(fleet, "POST /v1/deliverability/check", sent, 200);
  const { data: read } = expectStatus(
    await fleet.ask(`GET /v1/deliverability/checks/${data.check_id}`),
    200,
  );
  expectSame(read.score, data.score);
  return 10;
};

export const monitor: Errand = async function* ({ ask }) {
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

export const useKeys: Errand = async function* ({ ask }) {
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

export const recordActivity: Errand = async function* ({ ask, world }, name) {
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
export const testMail: Errand = async function* ({ ask, blobs, queue, world }) {
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

export const uploadReport: Errand = async function* ({ ask }) {
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
