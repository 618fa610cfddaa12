import { inflateRawSync } from "node:zlib";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { NO_REFUNDS } from "@mailproof/core/rows/refunds";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  EACH,
  getJson,
  getRecords,
  givenFileDone,
  givenOneOfEach,
  OURS,
  whenExported,
} from "../things/downloads.ts";
import {
  createRows,
  givenFileJob,
  givenJobOf,
  givenSmallChunks,
  RETENTION_SECONDS,
  type TestContext,
  verifyEmail,
  whenMessagesWorked,
} from "../things/export-jobs.ts";

test("the CSV of a finished file answers 200 with its own columns unchanged and ours behind them", async () => {
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

/** As the command line has it. */
const ADVICE: Record<string, string> = {
  valid: "yes",
  invalid: "no",
  disposable: "no",
  spam_trap: "no",
  role: "careful",
  catch_all: "careful",
  risky: "careful",
  unknown: "careful",
};

test("the CSV puts the cells of each job row beside its address", async () => {
  const { world, liveKey, job } = await givenOneOfEach();

  const { data } = await send(world, `GET /v1/jobs/${job}`, { key: liveKey });
  const [, ...records] = getRecords((await whenExported(world, liveKey, {}, job)).text);

  expect(records).toEqual(
    data.results.map((row: any) =>
      [
        row.email,
        row.email,
        row.status,
        ADVICE[row.status],
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

test("the JSON of a finished file answers 200 without an envelope and with the job's rows", async () => {
  const { world, liveKey, job } = await givenOneOfEach();

  const exported = await whenExported(world, liveKey, { format: "json" }, job);

  const { data } = await send(world, `GET /v1/jobs/${job}`, { key: liveKey });
  expect(exported.statusCode).toBe(200);
  expect(exported.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(JSON.parse(exported.text)).toEqual({
    format: "json",
    filter: "all",
    selection: "verified",
    complete: true,
    expected_rows: EACH.length,
    rows_missing: 0,
    rows_pending: 0,
    rows: data.results.map((row: { email: string; status: string }) => ({
      ...row,
      send: ADVICE[row.status],
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
    "one slow address",
    ({ world, liveKey }) => whenVerified(world, liveKey, { email: "slow@x.com" }),
  ],
])("the CSV of a job without a file starts with the address: %s", async (_case, begin) => {
  const ctx = await givenSmallChunks();
  await begin(ctx);
  await whenMessagesWorked(ctx);

  const { text } = await whenExported(ctx.world, ctx.liveKey);

  const [header, ...records] = getRecords(text);
  expect(header).toEqual(OURS);
  expect(records.map(([email, status]) => [email, status])).toEqual([["slow@x.com", "valid"]]);
});

test("the CSV adds a header to a file without one, with its addresses under email", async () => {
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
  "filter=%s returns its own rows in both formats, in upper or lower case",
  async (filter, emails) => {
    const { world, liveKey, job } = await givenOneOfEach();
    const upper = filter.toUpperCase();

    const json = await getJson(world, liveKey, { filter }, job);
    const csv = await whenExported(world, liveKey, { filter: upper, format: "CSV" }, job);
    const same = await getJson(world, liveKey, { filter: upper, format: "Json" }, job);

    expect(json.rows.map(({ email }: { email: string }) => email)).toEqual(emails);
    expect(json).toMatchObject({ filter, complete: true, expected_rows: emails.length });
    expect(
      getRecords(csv.text)
        .slice(1)
        .map(([email]) => email),
    ).toEqual(emails);
    expect(same).toEqual(json);
  },
);

test.each<[string, Record<string, string>, readonly string[]]>([
  ["an advice", { filter: "send:yes" }, ["ann@x.com"]],
  ["an advice and a reason", { filter: "send:careful,reason:mailbox_full" }, ["full@x.com"]],
  ["a domain", { filter: "domain:disposable.x.com" }, ["ann@disposable.x.com"]],
  ["a text", { q: "ANN@" }, ["ann@x.com", "ann@disposable.x.com"]],
  ["a name and a text", { filter: "invalid", q: "disp" }, ["ann@disposable.x.com"]],
])("an export and a page of rows with %s contain the same rows", async (_case, query, emails) => {
  const { world, liveKey, job } = await givenOneOfEach();

  const json = await getJson(world, liveKey, query, job);
  const csv = await whenExported(world, liveKey, query, job);

  expect(json.rows.map(({ email }: { email: string }) => email)).toEqual(emails);
  expect(json).toMatchObject({ complete: true, expected_rows: emails.length, rows_missing: 0 });
  expect(csv.headers["x-export-expected-rows"]).toBe(String(emails.length));
  expect(
    getRecords(csv.text)
      .slice(1)
      .map(([email]) => email),
  ).toEqual(emails);
  const { filter } = query;
  if (filter?.includes(":") !== true) return;
  const page = await send(world, `GET /v1/jobs/${job}`, { key: liveKey, query });
  expect(page.data.matching_rows).toBe(emails.length);
});

test("as=zip answers 200 with one file per advice, each with the header and its rows", async () => {
  const { world, liveKey, job } = await givenOneOfEach();
  const query = { as: "zip", filter: "domain:x.com" };

  const { statusCode, headers, bytes } = await whenExported(world, liveKey, query, job);

  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    "content-type": "application/zip",
    "content-disposition": expect.stringMatching(/-domain-x\.com\.zip"/),
    "x-export-expected-rows": "8",
  });
  const files = readZip(bytes);
  expect([...files.keys()]).toEqual(["send-yes.csv", "send-careful.csv", "send-no.csv"]);
  for (const [name, text] of files) {
    const [header = [], ...records] = getRecords(text);
    const at = header.indexOf("send");
    expect(records.map((cells) => `send-${cells[at]}.csv`)).toEqual(records.map(() => name));
  }
  const emails = [...files.values()].flatMap((text) =>
    getRecords(text)
      .slice(1)
      .map(([one]) => one),
  );
  expect(new Set(emails)).toEqual(new Set(EACH.filter((one) => one.endsWith("@x.com"))));
});

/** The files of a zip, by their names. */
const readZip = (bytes: Uint8Array): ReadonlyMap<string, string> => {
  const zip = Buffer.from(bytes);
  const files = new Map<string, string>();
  let at = zip.readUInt32LE(zip.length - 6);
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const [size, length, offset] = [
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt32LE(at + 42),
    ];
    const start = offset + 30 + length;
    files.set(
      zip.toString("utf8", at + 46, at + 46 + length),
      inflateRawSync(zip.subarray(start, start + size)).toString(),
    );
    at += 46 + length;
  }
  return files;
};

test("a filter without matching rows answers 200 with a header or with no rows", async () => {
  const { world, liveKey, job } = await givenFileDone("email\nann@x.com\n");

  const { text } = await whenExported(world, liveKey, { filter: "spam_trap" }, job);
  const json = await getJson(world, liveKey, { filter: "spam_trap" }, job);

  expect(getRecords(text)).toEqual([["email", "mailproof_email", ...OURS.slice(1)]]);
  expect(json).toMatchObject({ complete: true, expected_rows: 0, rows_missing: 0, rows: [] });
});

test.each(asRows`
  an unknown format | ${{ format: "pdf" }} | format: must be one of csv, json
  an empty format | ${{ format: "" }} | format: must be one of csv, json
  two formats | ${{ format: "csv,json" }} | format: must be one of csv, json
  an unknown filter | ${{ filter: "good" }} | filter: must be one of all, valid, invalid, risky
  a filter with a hyphen | ${{ filter: "catch-all" }} | filter: must be one of all
  a filter that is a property of every object | ${{ filter: "constructor" }} | filter: must be one of all
  an unknown format and filter | ${{ format: "x", filter: "y" }} | csv, json; filter: must
  an unknown term | ${{ filter: "name:ann" }} | filter: must be one of all
  a zip with selection=all | ${{ as: "zip", selection: "all" }} | selection: must be left out
  a text with selection=all | ${{ q: "ann", selection: "all" }} | selection: must be left out
  an unknown parameter | ${{ status: "valid" }} | status: is not a known field
`)(
  "a download with %s answers 400 and states the field",
  async (_case, query: Record<string, string>, words) => {
    const { world, liveKey } = await given();

    const refused = await whenExported(world, liveKey, query);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.message).toContain(words);
  },
);

test("the CSV renames our column when the file contains a column of that name", async () => {
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
  expect(header?.slice(6, 11)).toEqual([
    "mailproof_email",
    "mailproof_status",
    "send",
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
  "a CSV begins with a byte order mark only where it has letters beyond ASCII: %s",
  async (_case, list, isMarked) => {
    const { world, liveKey, job } = await givenFileDone(list);

    const { text } = await whenExported(world, liveKey, {}, job);

    expect(text.startsWith("\uFEFF")).toBe(isMarked);
  },
);

test("the download of a job without its input contains the addresses and our columns alone", async () => {
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
])(
  "a job called %j downloads under a file name that every system accepts",
  async (name, fileName) => {
    const ctx = await given();
    const { world, liveKey } = ctx;
    await givenJobOf(ctx, [createRows(await verifyEmail(world, "ann@x.com"), 1)], { name });

    const { headers } = await whenExported(world, liveKey);

    const disposition = headers["content-disposition"] ?? "";
    expect(disposition).toMatch(/^attachment; filename="[\w. -]*"; filename\*=UTF-8''[^\s"]*$/);
    expect(decodeURIComponent(disposition.split("''")[1] ?? "")).toBe(fileName);
  },
);

test("a download after the plan's days answers 409 and states that the rows are deleted", async () => {
  const { world, liveKey, job, later } = await givenFileDone("email\nann@x.com\nbob@x.com\n");
  later(RETENTION_SECONDS * 1_000 - 1_000);
  const last = await getJson(world, liveKey, {}, job);
  later(1_000);

  const refused = await whenExported(world, liveKey, {}, job);

  expect(last).toMatchObject({ complete: true, rows_missing: 0 });
  expect(refused).toMatchObject({ statusCode: 409, error: { retryable: true } });
  expect(refused.error.message).toContain("they were stored for 30 days and are deleted");
});

test.each<[string, (ctx: TestContext) => Promise<unknown>, string]>([
  [
    "without a verified chunk",
    (ctx) => givenFileJob(ctx, { text: "email\nann@x.com\n" }),
    "This job has no rows yet.",
  ],
  [
    "that ended without rows",
    (ctx) =>
      givenJobOf(ctx, [], {
        status: "failed",
        total: 3,
        refunds: { ...NO_REFUNDS, no_result: 3 },
      }),
    "This job has no rows.",
  ],
])("the download of a job %s answers 404", async (_case, begin, words) => {
  const ctx = await given({ balance: 10 });
  await begin(ctx);

  for (const format of ["csv", "json"]) {
    const refused = await whenExported(ctx.world, ctx.liveKey, { format });
    expect(refused).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
    expect(refused.error.message).toContain(words);
  }
});
