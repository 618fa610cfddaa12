import { expect, test } from "vitest";
import { whenQuiet } from "../app/drain-queues.ts";
import { listStoredItems, readCredits, thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { createEvent, whenEventsSent } from "../things/activity.ts";
import {
  createProcessRequest,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenFiled,
  whenFormSent,
} from "../things/jobs.ts";

// A list that another service has verified before: rows that it settled are left out on request.

/** ZeroBounce is wrong about bob, and settles ann in one of her two rows only. */
const LIST = `name,email,ZB Status,ZB Sub Status
Ann,ann@x.com,invalid,mailbox_not_found
Ann,ann@x.com,unknown,
Bob,bob@x.com,Invalid,mailbox_not_found
Cy,cy@x.com,catch-all,
Dee,dee@x.com,spamtrap,
Dee,dee@x.com,spamtrap,
Eve,catchall.eve@x.com,valid,
`;

const whenSent = async (ctx: TestContext, more: object, key?: string, content = LIST) => {
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  return whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, more), key);
};

const VENDOR = { name: "ZeroBounce", column: "ZB Status", settled_emails: 2 };

test("a preview states the price of a list with and without the rows that another service settled", async () => {
  const ctx = await givenChunked();

  const { data: all } = await whenSent(ctx, { action: "preview" });
  const { data: fewer } = await whenSent(ctx, { action: "preview", skip_settled: true });

  expect(all).toMatchObject({ unique_emails: 5, credits: 5, file: { vendor: VENDOR } });
  expect(fewer).toMatchObject({
    total_submitted: 7,
    duplicates_removed: 0,
    invalid_emails_skipped: 0,
    settled_skipped: 4,
    unique_emails: 3,
    credits: 3,
    file: { vendor: VENDOR },
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 100 });
});

test("settled rows are left out and not charged, a replay charges nothing, and the export names them", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, LIST);
  const body = createProcessRequest(fileKey, { skip_settled: true });

  const { data } = await whenFiled(ctx.world, ctx.liveKey, body, "k1");
  const { data: replay } = await whenFiled(ctx.world, ctx.liveKey, body, "k1");
  await whenQuiet(ctx);
  const query = { selection: "all" };
  const csv = await send(ctx.world, "GET /v1/jobs/job_1/download", { key: ctx.liveKey, query });

  expect(data).toMatchObject({
    settled_skipped: 4,
    unique_emails: 3,
    credits_used: 3,
    message: "3 addresses are being verified. 4 rows are left out because ZeroBounce settled them.",
  });
  expect(replay).toMatchObject({ idempotent_replay: true, credits_used: 0, settled_skipped: 4 });
  expect(await readCredits(ctx)).toMatchObject({ available: 97, spent: 3, held: 0 });
  const lines = csv.text.trim().split("\r\n");
  expect(lines.map((line) => line.split(",").slice(1, 9).join())).toEqual([
    "email,ZB Status,ZB Sub Status,zerobounce_status,row,row_outcome,duplicate_of,skip_reason",
    "ann@x.com,invalid,mailbox_not_found,invalid,2,skipped,,settled_elsewhere",
    "ann@x.com,unknown,,unknown,3,verified,,",
    "bob@x.com,Invalid,mailbox_not_found,invalid,4,skipped,,settled_elsewhere",
    "cy@x.com,catch-all,,catch_all,5,verified,,",
    "dee@x.com,spamtrap,,spam_trap,6,skipped,,settled_elsewhere",
    "dee@x.com,spamtrap,,spam_trap,7,skipped,,settled_elsewhere",
    "catchall.eve@x.com,valid,,valid,8,verified,,",
  ]);
  await thenConsistent(ctx);
});

test("a continued list does not count an address as removed that it leaves out as settled", async () => {
  const ctx = await givenChunked();
  await whenSent(ctx, {});
  await whenQuiet(ctx);

  const { data } = await whenSent(ctx, { skip_settled: true, continues: "job_1" });

  expect(data).toMatchObject({ compared: { new: 0, kept: 3, removed: 0 }, credits_used: 0 });
});

test("a form has the same fields, and refuses what they cannot hold", async () => {
  const ctx = await givenChunked();
  const file = { name: "file", fileName: "list.csv", content: LIST };
  const sendForm = (fields: Readonly<Record<string, string>>) =>
    whenFormSent(ctx.world, ctx.liveKey, [
      file,
      ...Object.entries(fields).map(([name, content]) => ({ name, content })),
    ]);

  const { data } = await sendForm({ email_columns: '["email"]', skip_settled: "true" });
  const refused = await sendForm({ email_columns: "email" });

  expect(data).toMatchObject({ settled_skipped: 4, credits_used: 3 });
  expect(refused.error.message).toContain('email_columns: must be JSON, such as ["work","home"]');
});

test("both verdicts are in a row, a page of rows and the downloads", async () => {
  const ctx = await givenChunked();
  await whenSent(ctx, {});
  await whenQuiet(ctx);
  const get = (path: string, query = {}) => send(ctx.world, path, { key: ctx.liveKey, query });

  const { data: row } = await get("GET /v1/jobs/job_1/results/4");
  const { data: page } = await get("GET /v1/jobs/job_1", { columns: "true" });
  const csv = await get("GET /v1/jobs/job_1/download");
  const json = await get("GET /v1/jobs/job_1/download", { format: "json" });

  const elsewhere = { vendor: "ZeroBounce", verdict: "Invalid", status: "invalid" };
  expect(row).toMatchObject({ status: "valid", elsewhere });
  expect(page.results[1]).toMatchObject({ status: "valid", elsewhere });
  expect(JSON.parse(json.text).rows[1]).toMatchObject({ status: "valid", elsewhere });
  expect(csv.text).toMatch(/,zerobounce_status,mailproof_email,status,/);
  expect(csv.text).toContain("Bob,bob@x.com,Invalid,mailbox_not_found,invalid,bob@x.com,valid,yes");
});

test("the summary counts who was right after mail was delivered or bounced, and a deletion removes the counts", async () => {
  const ctx = await givenChunked();
  await whenSent(ctx, {});
  await whenQuiet(ctx);
  const bounce = { bounce_type: "hard" as const, diagnostic: "550 5.1.1 User unknown" };
  const sent = createEvent("delivery", 0, { email: "bob@x.com" });
  const bounced = createEvent("bounce", 0, { email: "catchall.eve@x.com", ...bounce });

  await whenEventsSent(ctx.world, ctx.liveKey, sent, bounced);
  await whenEventsSent(ctx.world, ctx.liveKey, sent, bounced);
  const { summary } = await readJob(ctx);
  await whenEventsSent(
    ctx.world,
    ctx.liveKey,
    createEvent("bounce", 0, { email: "bob@x.com", ...bounce }),
  );
  const later = await readJob(ctx);
  await send(ctx.world, "DELETE /v1/jobs/job_1", { key: ctx.liveKey });

  expect(summary.elsewhere).toEqual({
    vendor: "ZeroBounce",
    bounced: { rows: 1, vendor_right: 0, mailproof_right: 0 },
    delivered: { rows: 1, vendor_right: 0, mailproof_right: 1 },
  });
  expect(later.summary.elsewhere).toMatchObject({
    bounced: { rows: 2, vendor_right: 1, mailproof_right: 0 },
    delivered: { rows: 0, mailproof_right: 0 },
  });
  expect(listStoredItems(ctx).filter(({ pk }) => pk.startsWith("ELSEWHERE"))).toEqual([]);
});

test.each([
  ["NeverBounce", "email,email_status\na@x.com,catchall\n"],
  ["Kickbox", "email,Result,Sendex\na@x.com,deliverable,0.9\n"],
  ["Bouncer", "email,Status,Toxic\na@x.com,undeliverable,no\n"],
  ["MillionVerifier", "email,quality,result\na@x.com,good,ok\n"],
  ["Emailable", "email,State\na@x.com,risky\nb@x.com,deliverable\n"],
  ["Hunter", "email,Verification status\na@x.com,accept_all\n"],
  ["DeBounce", "email,Result\na@x.com,Safe to Send\n"],
  ["Verifalia", "email,Classification\na@x.com,Undeliverable\n"],
  ["Reacher", "email,is_reachable\na@x.com,safe\n"],
  ["Clearout", "email,Status,Safe To Send\na@x.com,Catch All,no\n"],
  ["ZeroBounce", "email,ZeroBounce status\na@x.com,do_not_mail\n"],
  [undefined, "email,status\na@x.com,valid\n"],
  [undefined, "email,ZB Status\na@x.com,fine\n"],
  [undefined, "email,status,send,toxic\na@x.com,risky,careful,1\n"],
])("the verdicts of %s are recognized by header and words: %j", async (name, content) => {
  const ctx = await givenChunked();

  const { data } = await whenSent(ctx, { action: "preview" }, undefined, content);

  expect(data.file.vendor?.name).toBe(name);
});

test("our own export is never taken for another service's", async () => {
  const ctx = await givenChunked();
  await whenSent(ctx, {}, undefined, "email\ninvalid@x.com\nann@x.com\n");
  await whenQuiet(ctx);
  const csv = await send(ctx.world, "GET /v1/jobs/job_1/download", { key: ctx.liveKey });

  const { data } = await whenSent(
    ctx,
    { action: "preview", skip_settled: true },
    undefined,
    csv.text,
  );

  expect(data).toMatchObject({ unique_emails: 2, credits: 2 });
  expect(data.file.vendor).toBeUndefined();
});
