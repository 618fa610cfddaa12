import { openAccount } from "@mailproof/core/accounts/accounts";
import type { AppWorld } from "@mailproof/core/app-world";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { CHUNKS_QUEUE } from "@mailproof/core/jobs/chunk-messages";
import type { VerifiedRow } from "@mailproof/core/jobs/results";
import { credits } from "@mailproof/core/money/credits";
import { STATUSES } from "@mailproof/core/verify/result";
import { expect, test } from "vitest";
import { whenReconciled } from "../drain-queues.ts";
import {
  createRows,
  givenFileJob,
  givenJobOf,
  givenSmallChunks,
  KEPT_SECONDS,
  type TestContext,
  verifyEmail,
  whenChunkIsGone,
  whenMessagesWorked,
  whenPagesAreGone,
} from "../export-jobs.ts";
import { given, givenKey } from "../given.ts";
import { readCredits } from "../ledger.ts";
import { send, whenVerified } from "../send.ts";

const whenExported = async (
  world: AppWorld,
  key: string,
  query: Readonly<Record<string, string>> = {},
  id = "job_1",
) => send(world, `GET /v1/jobs/${id}/download`, { key, query });

/** The bare JSON of an export. */
const getJson = async (
  world: AppWorld,
  key: string,
  query: Readonly<Record<string, string>> = {},
  id = "job_1",
) => {
  const { statusCode, text } = await whenExported(world, key, { format: "json", ...query }, id);
  return { statusCode, ...JSON.parse(text) };
};

const getRecords = (csv: string) => createCsvReader(",")(csv, true);

const OURS = [
  "email",
  "status",
  "quality_score",
  "reason",
  "sub_status",
  "provider",
  "mailbox_exists",
  "catch_all",
  "disposable",
  "role_account",
  "free_provider",
  "typo_suggestion",
  "verified_at",
];

/** A file whose addresses are all verified. */
const givenFileDone = async (text: string, name?: string) => {
  const ctx = await givenSmallChunks();
  const job = await givenFileJob(ctx, { text, ...(name !== undefined && { name }) });
  await whenMessagesWorked(ctx);
  return { ...ctx, job };
};

/** One of each status, and one more that a filter has to take with it. */
const EACH = [
  "ann@x.com",
  "invalid@x.com",
  "full@x.com",
  "blocked@x.com",
  "catch_all@x.com",
  "ann@disposable.x.com",
  "info@x.com",
  "spam_trap@x.com",
  "disabled@x.com",
];

const givenOneOfEach = () => givenFileDone(`email\n${EACH.join("\n")}\n`);

test("a finished file is 200 as CSV: its own columns as they were, ours behind them", async () => {
  const { world, liveKey, job } = await givenFileDone(
    [
      "id;E-Mail;Company;note",
      "1;ann@x.com;Acme;",
      '2;invalid@X.com;"Globex; ""Inc.""";"two\nlines"',
      "3;n/a;skipped;",
      "4;ann@x.com;twice;",
      "5; bob@x.com ;short",
      "6;cy@x.com;long;x;and more",
    ].join("\n"),
    "Autumn",
  );

  const { statusCode, headers, text } = await whenExported(world, liveKey, {}, job);

  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "text/csv; charset=utf-8",
    "content-disposition":
      "attachment; filename=\"Autumn-results.csv\"; filename*=UTF-8''Autumn-results.csv",
    "x-ratelimit-limit": "600",
    "x-request-id": expect.any(String),
  });
  const [header, ...records] = createCsvReader(";")(text, true);
  expect(header).toEqual(["id", "E-Mail", "Company", "note", "column_5", ...OURS]);
  expect(records.map((cells) => cells.slice(0, 7))).toEqual([
    ["1", "ann@x.com", "Acme", "", "", "ann@x.com", "valid"],
    ["2", "invalid@X.com", 'Globex; "Inc."', "two\nlines", "", "invalid@x.com", "invalid"],
    ["5", " bob@x.com ", "short", "", "", "bob@x.com", "valid"],
    ["6", "cy@x.com", "long", "x", "and more", "cy@x.com", "valid"],
  ]);
  expect(text.endsWith("\r\n")).toBe(true);
});

test("what stands beside an address is what a row of the job says of it", async () => {
  const { world, liveKey, job } = await givenOneOfEach();

  const { data } = await send(world, `GET /v1/jobs/${job}`, { key: liveKey });
  const [, ...records] = getRecords((await whenExported(world, liveKey, {}, job)).text);

  expect(records).toEqual(
    data.results.map((row: any) =>
      [
        row.email,
        row.email,
        row.status,
        row.quality_score,
        row.reason,
        row.sub_status,
        row.provider,
        row.verification.mailbox_exists,
        row.verification.catch_all,
        row.flags.disposable,
        row.flags.role_account,
        row.flags.free_provider,
        row.ai.typo_suggestion,
        row.verified_at,
      ].map((cell) => String(cell ?? "")),
    ),
  );
});

test("a finished file is 200 as JSON, bare, with the rows that the job shows", async () => {
  const { world, liveKey, job } = await givenOneOfEach();

  const exported = await whenExported(world, liveKey, { format: "json" }, job);

  const { data } = await send(world, `GET /v1/jobs/${job}`, { key: liveKey });
  expect(exported.statusCode).toBe(200);
  expect(exported.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(JSON.parse(exported.text)).toEqual({
    format: "json",
    filter: "all",
    rows: "verified",
    complete: true,
    expected_rows: EACH.length,
    rows_missing: 0,
    rows_pending: 0,
    results: data.results.map((row: { email: string }) => ({
      ...row,
      submitted: row.email,
      columns: { email: row.email },
    })),
  });
});

test.each<[string, (ctx: TestContext) => Promise<unknown>]>([
  [
    "a batch",
    ({ world, liveKey }) =>
      send(world, "POST /v1/verify/batch", { key: liveKey, body: { emails: ["slow@x.com"] } }),
  ],
  [
    "one address that took its time",
    ({ world, liveKey }) => whenVerified(world, liveKey, { email: "slow@x.com" }),
  ],
])("without a file the address comes first: %s", async (_case, begin) => {
  const ctx = await givenSmallChunks();
  await begin(ctx);
  await whenMessagesWorked(ctx);

  const { text } = await whenExported(ctx.world, ctx.liveKey);

  const [header, ...records] = getRecords(text);
  expect(header).toEqual(OURS);
  expect(records.map(([email, status]) => [email, status])).toEqual([["slow@x.com", "valid"]]);
});

test("a file without a header gets one, in which the addresses are called email", async () => {
  const { world, liveKey, job } = await givenFileDone("1,ann@x.com\n2,bob@x.com\n");

  const [header, first] = getRecords((await whenExported(world, liveKey, {}, job)).text);

  expect(header).toEqual(["column_1", "email", "mailproof_email", ...OURS.slice(1)]);
  expect(first?.slice(0, 4)).toEqual(["1", "ann@x.com", "ann@x.com", "valid"]);
});

test.each([
  ["all", EACH],
  ["valid", ["ann@x.com"]],
  ["invalid", ["invalid@x.com", "ann@disposable.x.com", "disabled@x.com"]],
  ["risky", ["full@x.com", "catch_all@x.com", "info@x.com", "spam_trap@x.com"]],
  ["unknown", ["blocked@x.com"]],
  ["catch_all", ["catch_all@x.com"]],
  ["disposable", ["ann@disposable.x.com"]],
  ["role", ["info@x.com"]],
  ["spam_trap", ["spam_trap@x.com"]],
])(
  "filter=%s returns its own rows in either format, whatever the case of its letters",
  async (filter, emails) => {
    const { world, liveKey, job } = await givenOneOfEach();
    const upper = filter.toUpperCase();

    const json = await getJson(world, liveKey, { filter }, job);
    const csv = await whenExported(world, liveKey, { filter: upper, format: "CSV" }, job);
    const same = await getJson(world, liveKey, { filter: upper, format: "Json" }, job);

    expect(json.results.map(({ email }: { email: string }) => email)).toEqual(emails);
    expect(json).toMatchObject({ filter, complete: true, expected_rows: emails.length });
    expect(
      getRecords(csv.text)
        .slice(1)
        .map(([email]) => email),
    ).toEqual(emails);
    expect(same).toEqual(json);
  },
);

test("the file of each status is one of those that the filters are tried on", async () => {
  const { world, liveKey, job } = await givenOneOfEach();

  const { results } = await getJson(world, liveKey, {}, job);

  const statuses = new Set(results.map(({ status }: { status: string }) => status));
  expect(statuses).toEqual(new Set(STATUSES));
});

test("a filter that lets nothing through is 200 with a header, or with no rows", async () => {
  const { world, liveKey, job } = await givenFileDone("email\nann@x.com\n");

  const { text } = await whenExported(world, liveKey, { filter: "spam_trap" }, job);
  const json = await getJson(world, liveKey, { filter: "spam_trap" }, job);

  expect(getRecords(text)).toEqual([["email", "mailproof_email", ...OURS.slice(1)]]);
  expect(json).toMatchObject({ complete: true, expected_rows: 0, rows_missing: 0, results: [] });
});

test.each([
  ["another format", { format: "xlsx" }, "format: must be one of csv, json"],
  ["no format", { format: "" }, "format: must be one of csv, json"],
  ["two formats", { format: "csv,json" }, "format: must be one of csv, json"],
  ["another filter", { filter: "good" }, "filter: must be one of all, valid, invalid, risky"],
  ["a filter with a hyphen", { filter: "catch-all" }, "filter: must be one of all"],
  ["a filter that every object has", { filter: "constructor" }, "filter: must be one of all"],
  ["both", { format: "x", filter: "y" }, "csv, json; filter: must"],
  ["an unknown parameter", { status: "valid" }, "status: is not a known field"],
])("%s is 400 and names the field", async (_case, query: Record<string, string>, words) => {
  const { world, liveKey } = await given();

  const refused = await whenExported(world, liveKey, query);

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.message).toContain(words);
});

test("cells that a spreadsheet would run are text, in own columns, names and addresses", async () => {
  const { world, liveKey, job } = await givenFileDone(
    'email,=name,+,@\n=cmd@x.com,"=HYPERLINK(""http://x"")",-1+1,@SUM(1)\n',
  );

  const { text } = await whenExported(world, liveKey, {}, job);

  const [header, record] = getRecords(text);
  expect(header?.slice(0, 4)).toEqual(["email", "'=name", "+", "'@"]);
  expect(record?.slice(0, 4)).toEqual([
    "'=cmd@x.com",
    '\'=HYPERLINK("http://x")',
    "'-1+1",
    "'@SUM(1)",
  ]);
});

test("where the file has a column of our name, ours is the one that is called otherwise", async () => {
  const { world, liveKey, job } = await givenFileDone(
    "Status,email,reason,mailproof_reason,name,name\nactive,ann@x.com,why,not,a,b\n",
  );

  const [header, record] = getRecords((await whenExported(world, liveKey, {}, job)).text);

  expect(header?.slice(0, 6)).toEqual([
    "Status",
    "email",
    "reason",
    "mailproof_reason",
    "name",
    "name",
  ]);
  expect(header?.slice(6, 10)).toEqual([
    "mailproof_email",
    "mailproof_status",
    "quality_score",
    "mailproof_mailproof_reason",
  ]);
  expect(record?.slice(0, 8)).toEqual([
    "active",
    "ann@x.com",
    "why",
    "not",
    "a",
    "b",
    "ann@x.com",
    "valid",
  ]);
});

test.each([
  ["in a cell", "email,city\nann@x.com,Zürich\n", true],
  ["in a name of a column", "email,größe\nann@x.com,1\n", true],
  ["in an address", "email\nann@bücher.example\n", true],
  ["nowhere", "email,city\nann@x.com,Berlin\n", false],
])(
  "a CSV begins with a byte order mark where it needs one: letters beyond ASCII %s",
  async (_case, list, isMarked) => {
    const { world, liveKey, job } = await givenFileDone(list);

    const { text } = await whenExported(world, liveKey, {}, job);

    expect(text.startsWith("\uFEFF")).toBe(isMarked);
  },
);

test("when the input is gone the addresses stand alone beside ours", async () => {
  const { world, liveKey, job, blobs } = await givenFileDone("id,E-Mail\n1,ann@x.com\n2,b@x.com\n");
  for (const key of blobs.keys()) await blobs.remove(key);

  const [header, ...records] = getRecords((await whenExported(world, liveKey, {}, job)).text);

  expect(header).toEqual(OURS);
  expect(records.map(([email]) => email)).toEqual(["ann@x.com", "b@x.com"]);
});

test.each([
  [null, "job_1-results.csv"],
  ["Autumn list", "Autumn list-results.csv"],
  ["customers.csv", "customers-results.csv"],
  ["../../etc/passwd", "_.._etc_passwd-results.csv"],
  ['x"; filename=evil.exe', "x_; filename=evil.exe-results.csv"],
  ["a\r\nSet-Cookie: x=1", "a_Set-Cookie_ x=1-results.csv"],
  ["list\u202Evsc.exe", "list_vsc.exe-results.csv"],
  ["Übersicht – 列表", "Übersicht – 列表-results.csv"],
  ["half \uD83D", "half _-results.csv"],
  [".txt", "job_1-results.csv"],
  [". .", "job_1-results.csv"],
  ["x".repeat(200), `${"x".repeat(70)}-results.csv`],
])("a job called %j is downloaded under a name that fits everywhere", async (name, fileName) => {
  const ctx = await given();
  const { world, liveKey } = ctx;
  await givenJobOf(ctx, [createRows(await verifyEmail(world, "ann@x.com"), 1)], { name });

  const { headers } = await whenExported(world, liveKey);

  const disposition = headers["content-disposition"] ?? "";
  expect(disposition).toMatch(/^attachment; filename="[\w. -]*"; filename\*=UTF-8''[^\s"]*$/);
  expect(decodeURIComponent(disposition.split("''")[1] ?? "")).toBe(fileName);
});

test("a filter is part of the file's name", async () => {
  const ctx = await given();
  await givenJobOf(ctx, [createRows(await verifyEmail(ctx.world, "ann@x.com"), 1)]);

  const { headers } = await whenExported(ctx.world, ctx.liveKey, { filter: "Valid" });

  expect(headers["content-disposition"]).toContain('filename="job_1-valid.csv"');
});

test("a job in the middle is what is there by now, and does not say that it is complete", async () => {
  const ctx = await givenSmallChunks();
  const { world, liveKey } = ctx;
  const list = ["ann@x.com", "bob@x.com", "cy@x.com", "dan@x.com", "eve@x.com"];
  const job = await givenFileJob(ctx, {
    text: `id,email\n${list.map((e, n) => `${n},${e}`).join("\n")}\n`,
  });
  await whenMessagesWorked(ctx, 2);

  const json = await getJson(world, liveKey, {}, job);
  const csv = await whenExported(world, liveKey, {}, job);

  expect(json).toMatchObject({ complete: false, expected_rows: 4, rows_missing: 0 });
  expect(json.results.map(({ email }: { email: string }) => email)).toEqual(list.slice(0, 4));
  expect(csv.headers["content-disposition"]).toContain("-results-so-far.csv");
  expect(
    getRecords(csv.text)
      .map(([id, email]) => [id, email])
      .slice(1),
  ).toEqual(list.slice(0, 4).map((email, n) => [String(n), email]));
});

test("of a job whose first chunk is still at work the others stand beside their own cells", async () => {
  const ctx = await givenSmallChunks();
  const { world, liveKey, queue } = ctx;
  const text = "id,email\n1,ann@x.com\n2,bob@x.com\n3,cy@x.com\n4,dan@x.com\n5,eve@x.com\n";
  const job = await givenFileJob(ctx, { text });
  await queue.receive(CHUNKS_QUEUE, { max: 1, waitMs: 0 });
  await whenMessagesWorked(ctx);

  const records = getRecords((await whenExported(world, liveKey, {}, job)).text);

  expect(records.slice(1).map(([id, email]) => [id, email])).toEqual([
    ["3", "cy@x.com"],
    ["4", "dan@x.com"],
    ["5", "eve@x.com"],
  ]);
});

test("a job that went on while it was read is not short, and counts what is there", async () => {
  const ctx = await given();
  const rows = createRows(await verifyEmail(ctx.world, "ann@x.com"), 3);
  await givenJobOf(ctx, [rows], { status: "processing", total: 9, processed: 1, valid: 1 });

  const json = await getJson(ctx.world, ctx.liveKey);

  expect(json).toMatchObject({ complete: false, expected_rows: 3, rows_missing: 0 });
  expect(json.results).toHaveLength(3);
});

test("rows that come with a later pass stand beside their own cells", async () => {
  const ctx = await givenSmallChunks(4);
  const { world, liveKey, later } = ctx;
  const text = "id,email\n1,greylisted@x.com\n2,ann@x.com\n3,greylisted@y.com\n4,bob@x.com\n";
  const job = await givenFileJob(ctx, { text });
  await whenMessagesWorked(ctx);

  const before = getRecords((await whenExported(world, liveKey, {}, job)).text);
  expect(before.slice(1).map(([id]) => id)).toEqual(["2", "4"]);

  for (const minutes of [10, 40]) {
    later(minutes * 60_000);
    await whenReconciled(ctx);
    await whenMessagesWorked(ctx);
  }
  const after = getRecords((await whenExported(world, liveKey, {}, job)).text);
  expect(after.slice(1).map(([id, email]) => [id, email])).toEqual([
    ["1", "greylisted@x.com"],
    ["2", "ann@x.com"],
    ["3", "greylisted@y.com"],
    ["4", "bob@x.com"],
  ]);

  // The pages of the first pass are older than the chunk: they are not to go before it.
  later(KEPT_SECONDS * 1_000 - 60_000);
  expect(await getJson(world, liveKey, {}, job)).toMatchObject({ complete: true, rows_missing: 0 });
});

test("a failed job is never complete, whatever can be read of it", async () => {
  const ctx = await given();
  const rows = createRows(await verifyEmail(ctx.world, "ann@x.com"), 3);
  await givenJobOf(ctx, [rows], { status: "failed", error: "It broke." });

  expect(await getJson(ctx.world, ctx.liveKey)).toMatchObject({
    complete: false,
    expected_rows: 3,
    rows_missing: 0,
  });
});

test("a CSV that is known to be short is 409 and retryable, and JSON says what is missing", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  const rows = createRows(await verifyEmail(world, "ann@x.com"), 7);
  await givenJobOf(ctx, [rows.slice(0, 2), rows.slice(2, 5), rows.slice(5)]);
  await whenChunkIsGone(table, "job_1", 1);

  const csv = await whenExported(world, liveKey);
  const json = await getJson(world, liveKey);

  expect(csv).toMatchObject({
    statusCode: 409,
    error: {
      code: "NOT_READY",
      retryable: true,
      details: { expected_rows: 7, rows_missing: 3 },
    },
  });
  expect(csv.error.message).toMatch(/^3 of 7 rows .*format=json.* Nothing was charged\.$/);
  expect(json).toMatchObject({
    statusCode: 200,
    complete: false,
    expected_rows: 7,
    rows_missing: 3,
  });
  expect(json.results.map(({ row }: { row: number }) => row)).toEqual([1, 2, 6, 7]);
});

test("so is one whose rows turn out to be gone, before its first byte", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  const rows = createRows(await verifyEmail(world, "ann@x.com"), 7);
  await givenJobOf(ctx, [rows.slice(0, 2), rows.slice(2)]);
  await whenPagesAreGone(table, "job_1", 0);

  expect(await whenExported(world, liveKey)).toMatchObject({
    statusCode: 409,
    error: { retryable: true, details: { expected_rows: 7, rows_missing: 2 } },
  });
  expect(await getJson(world, liveKey)).toMatchObject({
    complete: false,
    expected_rows: 7,
    rows_missing: 2,
  });
});

test("a CSV that turns out to be short later on breaks off: half of it is not taken for the whole", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  const rows = createRows(await verifyEmail(world, "ann@x.com"), 4);
  await givenJobOf(ctx, [rows.slice(0, 2), rows.slice(2)]);
  await whenPagesAreGone(table, "job_1", 1);

  await expect(whenExported(world, liveKey)).rejects.toThrow("2 of 4 rows");
});

test.each(["csv", "json"])(
  "when none of the rows can be read yet it is 409 and retryable: %s",
  async (format) => {
    const ctx = await given();
    const { world, liveKey, table } = ctx;
    await givenJobOf(ctx, [createRows(await verifyEmail(world, "ann@x.com"), 3)]);
    await whenChunkIsGone(table, "job_1", 0);

    const refused = await whenExported(world, liveKey, { format });

    expect(refused).toMatchObject({
      statusCode: 409,
      error: {
        code: "NOT_READY",
        retryable: true,
        details: { expected_rows: 3, rows_missing: 3 },
      },
    });
    expect(refused.error.message).toMatch(/rows can be read: retry .* Nothing was/);
  },
);

test("the same when every page is gone and no chunk is", async () => {
  const ctx = await given();
  const { world, liveKey, table } = ctx;
  await givenJobOf(ctx, [createRows(await verifyEmail(world, "ann@x.com"), 3)]);
  await whenPagesAreGone(table, "job_1", 0);

  for (const format of ["csv", "json"])
    expect((await whenExported(world, liveKey, { format })).statusCode).toBe(409);
});

test("past the plan's days it is 409, and the words say that the rows are gone", async () => {
  const { world, liveKey, job, later } = await givenFileDone("email\nann@x.com\nbob@x.com\n");
  later(KEPT_SECONDS * 1_000 - 1_000);
  const last = await getJson(world, liveKey, {}, job);
  later(1_000);

  const refused = await whenExported(world, liveKey, {}, job);

  expect(last).toMatchObject({ complete: true, rows_missing: 0 });
  expect(refused).toMatchObject({ statusCode: 409, error: { retryable: true } });
  expect(refused.error.message).toContain("they were stored for 30 days and are deleted");
});

test.each<[string, (ctx: TestContext) => Promise<unknown>, string]>([
  [
    "none of whose chunks is done",
    (ctx) => givenFileJob(ctx, { text: "email\nann@x.com\n" }),
    "This job has no rows yet.",
  ],
  [
    "that is over without any",
    (ctx) => givenJobOf(ctx, [], { status: "failed", total: 3, refunded: 3 }),
    "This job has no rows.",
  ],
])("a job %s is 404", async (_case, begin, words) => {
  const ctx = await given({ balance: 10 });
  await begin(ctx);

  for (const format of ["csv", "json"]) {
    const refused = await whenExported(ctx.world, ctx.liveKey, { format });
    expect(refused).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
    expect(refused.error.message).toContain(words);
  }
});

test("another account's job is 404 in the words of one that never was", async () => {
  const { world, job } = await givenOneOfEach();
  const bo = await openAccount(world, { name: "Bo", plan: "pro", opening: credits(0) });

  const theirs = await whenExported(world, bo.liveKey, {}, job);
  const foreign = await whenExported(world, bo.liveKey, {}, "job_99");

  expect(theirs.statusCode).toBe(404);
  expect(theirs.error).toEqual(foreign.error);
});

test("a test key exports its own jobs and no live ones, and a live key none of its", async () => {
  const ctx = await givenSmallChunks();
  const { world, liveKey, testKey } = ctx;
  const text = "id,email\n1,ann@x.com\n";
  const live = await givenFileJob(ctx, { text });
  const sandboxed = await givenFileJob(ctx, { text, key: testKey });
  await whenMessagesWorked(ctx);

  const statuses = [
    await whenExported(world, testKey, {}, sandboxed),
    await whenExported(world, liveKey, {}, live),
    await whenExported(world, testKey, {}, live),
    await whenExported(world, liveKey, {}, sandboxed),
  ].map(({ statusCode }) => statusCode);

  expect(statuses).toEqual([200, 200, 404, 404]);
});

/** A hundred more than an answer holds, and one; as many are spam traps. */
const givenLarge = async (also: Parameters<typeof givenJobOf>[2] = {}) => {
  const ctx = await given();
  const good = createRows(await verifyEmail(ctx.world, "ann@x.com"), 5_000);
  const trap = await verifyEmail(ctx.world, "spam_trap@x.com");
  const traps = createRows(trap, 101).map(
    ({ row, result }): VerifiedRow => ({ row: 5_000 + row, result }),
  );
  const rows = [...good, ...traps];
  const chunks = [rows.slice(0, 2_500), rows.slice(2_500, 5_001), rows.slice(5_001)];
  await givenJobOf(ctx, chunks, { name: "Big", valid: 5_000, risky: 101, ...also });
  const puts = countedPuts(ctx);
  return { ...ctx, world: { ...ctx.world, blobs: puts.blobs }, puts };
};

const countedPuts = ({ blobs }: TestContext) => {
  const counted = {
    keys: [] as string[],
    blobs: {
      ...blobs,
      put: (key: string, content: AsyncIterable<Uint8Array>) => {
        counted.keys.push(key);
        return blobs.put(key, content);
      },
    },
  };
  return counted;
};

test("up to 5,000 rows stand in the JSON itself, and more behind a link to the same", async () => {
  const { world, liveKey, blobs, puts } = await givenLarge();

  const link = await getJson(world, liveKey);

  const { download_url, ...disposition } = link;
  expect(disposition).toEqual({
    statusCode: 200,
    format: "json",
    filter: "all",
    rows: "verified",
    complete: true,
    expected_rows: 5_101,
    rows_missing: 0,
    rows_pending: 0,
    expires_in_seconds: 900,
    expires_at: "2026-11-21T00:15:00.000Z",
  });
  const [key = ""] = puts.keys;
  expect(download_url).toContain(`/${key}?`);
  const object = await blobs.get(key);
  const fullExport = JSON.parse(
    Buffer.concat(await Array.fromAsync(object?.content ?? [])).toString(),
  );
  const { results, ...fields } = fullExport;
  expect(fields).toEqual({
    format: "json",
    filter: "all",
    rows: "verified",
    complete: true,
    expected_rows: 5_101,
    rows_missing: 0,
    rows_pending: 0,
  });
  expect(results.map(({ row }: { row: number }) => row)).toEqual(
    Array.from({ length: 5_101 }, (_, n) => n + 1),
  );
  const { data } = await send(world, "GET /v1/jobs/job_1", { key: liveKey, query: { limit: "3" } });
  expect(results.slice(0, 3)).toEqual(data.results);
});

test("of a large job a filter that leaves few enough is answered at once", async () => {
  const { world, liveKey, puts } = await givenLarge();

  const valid = await getJson(world, liveKey, { filter: "valid" });
  const trap = await getJson(world, liveKey, { filter: "spam_trap" });

  expect(valid.results).toHaveLength(5_000);
  expect(trap.results).toHaveLength(101);
  expect(puts.keys).toEqual([]);
});

test("a few rows that are too long for an answer are behind a link, too", async () => {
  const ctx = await given();
  const result = await verifyEmail(ctx.world, "ann@x.com");
  const long = { ...result.enrichment, full_name: "x".repeat(50_000) };
  await givenJobOf(ctx, [createRows({ ...result, enrichment: long }, 95)]);

  expect(await getJson(ctx.world, ctx.liveKey)).toHaveProperty("download_url");
});

test("the object behind a link is made once for a finished job, and again when rows have gone", async () => {
  const { world, liveKey, table, puts } = await givenLarge();

  await getJson(world, liveKey);
  const again = await getJson(world, liveKey);
  expect(again).toHaveProperty("download_url");
  expect(puts.keys).toHaveLength(1);

  await whenChunkIsGone(table, "job_1", 2);
  const short = await getJson(world, liveKey);
  expect(short).toMatchObject({ complete: false, expected_rows: 5_101, rows_missing: 100 });
  expect(new Set(puts.keys).size).toBe(2);
});

test("a job that goes on has a new object each time", async () => {
  const { world, liveKey, puts } = await givenLarge({ status: "processing" });

  await getJson(world, liveKey);
  const link = await getJson(world, liveKey);

  expect(link).toMatchObject({ complete: false, expected_rows: 5_101 });
  expect(puts.keys).toHaveLength(2);
});

test("what is at another account's job never leads to its object", async () => {
  const { world, liveKey } = await givenLarge();
  await getJson(world, liveKey);
  const bo = await openAccount(world, { name: "Bo", plan: "pro", opening: credits(0) });

  expect((await whenExported(world, bo.liveKey, { format: "json" })).statusCode).toBe(404);
});

test("an export costs nothing, also without any credits", async () => {
  const ctx = await givenFileDone("email\nann@x.com\n");
  const before = await readCredits(ctx);

  for (const format of ["csv", "json"])
    expect((await whenExported(ctx.world, ctx.liveKey, { format }, ctx.job)).statusCode).toBe(200);

  expect(await readCredits(ctx)).toEqual(before);
});

test("no key is 401, a key without verification:read is 403", async () => {
  const { world, account, job } = await givenOneOfEach();
  const writing = await givenKey(world, account, { scopes: ["verification:write"] });
  const reading = await givenKey(world, account, { scopes: ["verification:read"] });

  expect((await send(world, `GET /v1/jobs/${job}/download`)).statusCode).toBe(401);
  expect((await whenExported(world, writing, {}, job)).statusCode).toBe(403);
  expect((await whenExported(world, reading, {}, job)).statusCode).toBe(200);
});
