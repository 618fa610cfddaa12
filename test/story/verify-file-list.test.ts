import { readEvent } from "@mailproof/core/webhooks/items";
import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { listStoredItems, thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { givenForm } from "../things/forms.ts";
import {
  createEmails,
  createProcessRequest,
  FILE_PART,
  formatCsv,
  givenChunked,
  givenUpload,
  PROCESSING,
  readJob,
  UPLOADING,
  whenBatched,
  whenFiled,
  whenFormSent,
} from "../things/jobs.ts";

const filePart = (
  content: string | Uint8Array = formatCsv(createEmails(2)),
  fileName = "list.csv",
) => ({
  name: "file",
  fileName,
  content,
});

/** What the answer says was found in a file. */
const readFoundList = async (content: string | Uint8Array, how: object = {}) => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  const { data } = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, how));
  return data.file;
};

test.each(asRows<[string, string | Uint8Array, object]>`
  a list of one column without a header | ${"ann@x.com\nbo@x.com\n"} | ${{ email_column: "column_1", has_header: false, delimiter: "none", encoding: "utf-8" }}
  semicolons, and a second column of addresses | ${"id;Work mail;E-Mail\n1;ann@x.com;bo@y.com\n"}
    | ${{ email_column: "E-Mail", email_column_index: 2, other_email_columns: ["Work mail"], columns: ["id", "Work mail", "E-Mail"], column_count: 3, delimiter: "semicolon" }}
  a list with tabs | ${"id\temail\n1\tann@x.com\n"} | ${{ delimiter: "tab" }}
  a list with bars | ${"id|email\n1|ann@x.com\n"} | ${{ delimiter: "pipe" }}
  the delimiter of a sep= line | ${"sep=^\nid^email\n1^ann@x.com\n"} | ${{ delimiter: "^" }}
  a list in windows-1252 | ${Buffer.from("Name,email\nM\u00fcller,ann@x.com\n", "latin1")} | ${{ encoding: "windows-1252" }}
  a list in UTF-16 | ${Buffer.from("\ufeffName,email\nAnn,ann@x.com\n", "utf16le")} | ${{ encoding: "utf-16le" }}
  a late letter of another encoding | ${Buffer.from(`Name,email\n${"Ann,ann@x.com\n".repeat(30_000)}J\u00f6rg,jo@x.com\n`, "latin1")}
    | ${{ encoding: "windows-1252" }}
  more columns than fit a response | ${`${["email", ...Array.from({ length: 99 }, (_, n) => `c${n}`)].join(",")}\nann@x.com\n`}
    | ${{ column_count: 100, columns: expect.objectContaining({ length: 20 }) }}
`)("the response describes %s", async (_case, content, expected) => {
  expect(await readFoundList(content)).toMatchObject(expected);
});

test("the response lists the first ten skipped rows with their place, text and reason", async () => {
  const rows = ["bob@x.com; cy@y.com", "Ada", "x".repeat(300), ...Array(20).fill("none")];
  const list = ["name,email", "ann,ann@x.com", ...rows.map((cell) => `n,${cell}`)].join("\n");

  const { skipped_rows } = await readFoundList(list);

  expect(skipped_rows).toHaveLength(10);
  expect(skipped_rows.slice(0, 3)).toEqual([
    {
      row: 3,
      text: "bob@x.com; cy@y.com",
      reason: "several_addresses",
      message: expect.stringMatching(/several addresses/),
    },
    { row: 4, text: "Ada", reason: "syntax.no_at", message: "The @ is missing." },
    {
      row: 5,
      text: `${"x".repeat(99)}…`,
      reason: "syntax.no_at",
      message: "The @ is missing.",
    },
  ]);
});

test("a repeated file request with the same Idempotency-Key returns the same findings", async () => {
  const { world, liveKey } = await givenChunked();
  const fileKey = await givenUpload({ world }, liveKey, "email\nann@x.com\nnobody\n");

  const first = await whenFiled(world, liveKey, createProcessRequest(fileKey), "k");
  const repeat = await whenFiled(world, liveKey, createProcessRequest(fileKey), "k");

  expect(repeat.data).toMatchObject({ idempotent_replay: true, file: first.data.file });
  expect(repeat.data.file.skipped_rows).toHaveLength(1);
});

test("the response's message states a second column of addresses, which is not verified", async () => {
  const { world, liveKey } = await givenChunked();
  const fileKey = await givenUpload({ world }, liveKey, "work,home\nann@x.com,bo@x.com\n");

  const { data } = await whenFiled(world, liveKey, createProcessRequest(fileKey));

  expect(data.message).toBe(
    '1 address is being verified. Column "home" also holds addresses and is not verified.',
  );
});

test.each([
  "Ada Lovelace <ada@x.com>",
  '"Lovelace, Ada" <ada@x.com>',
  '"Ada <Countess>" <ada@x.com>',
  "mailto:ada@x.com?subject=Hi%20there",
  "MAILTO:%61da@x.com",
  "Ada < ada@x.com >",
  "\u200b<ada@x.com>\u00a0;",
])(
  "a call, a batch, a file, a form and the activity read the same address from %j",
  async (text) => {
    const ctx = await givenForm();
    const { world, liveKey: key } = ctx;
    const cell = `"${text.replaceAll('"', '""')}"`;
    const fileKey = await givenUpload(ctx, key, formatCsv([cell]));

    const jobs = [
      await whenBatched(world, key, { emails: [text] }),
      await whenFiled(world, key, createProcessRequest(fileKey)),
    ];
    await whenWorked(ctx);
    const call = await send(world, "POST /v1/verify", { key, body: { email: text } });
    const path = `GET /v1/activity/${encodeURIComponent(text)}`;
    const activity = await send(world, path, { key });
    const form = await ctx.ask(text);

    const rows = await Promise.all(jobs.map(async ({ data }) => await readJob(ctx, data.job_id)));
    const found = [...rows.map(({ results }) => results[0]), call.data, activity.data];
    expect(found.map(({ email }: { email: string }) => email)).toEqual(Array(4).fill("ada@x.com"));
    expect(form.data.class).toBe("go");
  },
);

test.each([
  ["its file's name", "Spring customers.csv", undefined, "Spring customers.csv"],
  ["its file's name in any letters", "Käufer 列表.CSV", undefined, "Käufer 列表.CSV"],
  ["the caller's name", "list.csv", "Autumn", "Autumn"],
])("a file's job uses %s, in two steps and in a form", async (_case, fileName, name, called) => {
  const ctx = await givenChunked();
  const { world, liveKey } = ctx;
  const request = { action: "get_upload_url", file_name: fileName };
  const { file_key } = (await whenFiled(world, liveKey, request)).data;
  await world.blobs.put(file_key, [Buffer.from("ann@x.com\n")] as never);

  const steps = await whenFiled(
    world,
    liveKey,
    createProcessRequest(file_key, name ? { name } : {}),
  );
  const form = await whenFormSent(world, liveKey, [
    filePart("ann@x.com\n", fileName),
    ...(name ? [{ name: "name", content: name }] : []),
  ]);

  for (const { data } of [steps, form])
    expect(await readJob(ctx, data.job_id)).toMatchObject({ name: called });
});

test("a file's job shortens a long file name to a key's space, between letters", async () => {
  const ctx = await givenChunked();
  const { data } = await whenFormSent(ctx.world, ctx.liveKey, [
    filePart("ann@x.com\n", `${"é".repeat(100)}.csv`),
  ]);

  expect(await readJob(ctx, data.job_id)).toMatchObject({ name: "é".repeat(75) });
});

test("the form accepts name, webhook_url and options like a body", async () => {
  const ctx = await givenChunked();
  const { world, liveKey } = ctx;
  const { data } = await whenFormSent(world, liveKey, [
    filePart(),
    { name: "name", content: "Spring" },
    { name: "webhook_url", content: "https://x.example/done" },
    { name: "options", content: '{"deep_verify": false, "include_ai": false}' },
    { name: "email_column", content: "" },
  ]);
  await whenWorked(ctx);

  const job = ctx.table.items().find(({ pk, sk }) => pk === "JOB#job_1" && sk === "JOB");
  expect(data).toMatchObject({ job_id: "job_1", unique_emails: 2 });
  expect(job).toMatchObject({
    name: "Spring",
    options: { deepVerify: false, includeAi: false },
    callback: { url: "https://x.example/done", secret: null },
  });
  const events = ctx.table
    .items()
    .filter(({ sk }) => sk === "EVENT")
    .map(readEvent);
  expect(events).toMatchObject([{ callback: { url: "https://x.example/done" } }]);
});

test.each(asRows<[string, string, string, string]>`
  malformed options | options | deep_verify=false | options: must be JSON
  options that are a list | options | ${"[]"} | options: must be an object
  an unknown option | options | {"timeout_ms":5} | options.timeout_ms: is not a known field
  an option of another type | options | {"deep_verify":"no"} | options.deep_verify: must be true or false
  a callback without TLS | webhook_url | http://x.example | webhook_url: must be
  an endless name | name | ${"x".repeat(201)} | name: must have at most 200
  a field that is a property of every object | constructor | x | constructor: is not a known field
`)("a form with %s answers 400 and stores nothing", async (_case, name, content, words) => {
  const ctx = await givenChunked();
  const before = listStoredItems(ctx);

  const refused = await whenFormSent(ctx.world, ctx.liveKey, [filePart(), { name, content }]);

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.message).toContain(words);
  expect(listStoredItems(ctx)).toEqual(before);
});

test("the form accepts options sent as a file up to a field's length", async () => {
  const { world, liveKey } = await givenChunked();
  const sendOptions = (content: string) =>
    whenFormSent(world, liveKey, [filePart(), { name: "options", fileName: "blob", content }]);

  expect(await sendOptions('{"deep_verify":false}')).toMatchObject({ statusCode: 202 });
  expect(await sendOptions(" ".repeat(20_000))).toMatchObject({ statusCode: 400 });
});

test("a form with another option or name answers 409 under the same key", async () => {
  const { world, liveKey } = await givenChunked();
  const sendName = (name: string) =>
    whenFormSent(world, liveKey, [filePart(), { name: "name", content: name }], "k");

  expect(await sendName("Spring")).toMatchObject({ statusCode: 202 });
  expect(await sendName("Spring")).toMatchObject({ data: { idempotent_replay: true } });
  expect(await sendName("Autumn")).toMatchObject({ error: { code: "IDEMPOTENCY_KEY_CONFLICT" } });
});

// Requests, forms and files that are refused before a job is made.

const UNREAD = "is not a known field";

/** One field too many, as a row of the table. */
const findUnread =
  (action: string, body: object) =>
  ([field = "", value]: readonly unknown[]): [string, unknown, string] => {
    const name = field as string;
    return [`${action} with ${name}`, { ...body, [name]: value }, `${name}: ${UNREAD}`];
  };

test.each<[string, unknown, string]>([
  ["no body", undefined, "body: is required"],
  ["no action", { file_name: "list.csv" }, "action: must be get_upload_url, process or preview"],
  ["an unknown action", { action: "verify" }, "action: must be get_upload_url, process or preview"],
  ["an upload without a name", { action: "get_upload_url" }, "file_name: is required"],
  ["an upload with an empty name", { ...UPLOADING, file_name: "" }, "file_name: must not be empty"],
  ["an endless file name", { ...UPLOADING, file_name: `${"x".repeat(252)}.csv` }, "at most 255"],
  ...[
    ["file_key", "x"],
    ["email_column", "0"],
    ["has_header", true],
    ["name", "Spring"],
    ["webhook_url", "https://x.example"],
    ["webhook_secret", "s".repeat(16)],
    ["options", {}],
    ["emails", []],
  ].map(findUnread("an upload", UPLOADING)),
  ...[
    ["file_name", "list.csv"],
    ["webhook_secret", "s".repeat(16)],
    ["emails", []],
    ["delimiter", ";"],
  ].map(findUnread("processing", PROCESSING)),
  ["processing without a key", { action: "process" }, "file_key: is required"],
  ["processing an empty key", createProcessRequest(""), "file_key: must not be empty"],
  ["a column that is a number", { ...PROCESSING, email_column: 1 }, "email_column: must be string"],
  ["a column without a name", { ...PROCESSING, email_column: "" }, "email_column: must not be"],
  [
    "two ways to name columns",
    { ...PROCESSING, email_column: "a", email_columns: ["b"] },
    "email_columns: must be left out with email_column",
  ],
  ["an endless column", { ...PROCESSING, email_column: "x".repeat(201) }, "at most 200"],
  ["a header as a text", { ...PROCESSING, has_header: "yes" }, "has_header: must be true or false"],
  ["a wait", { ...PROCESSING, options: { timeout_ms: 1_000 } }, `options.timeout_ms: ${UNREAD}`],
  [
    "a callback without TLS",
    { ...PROCESSING, webhook_url: "http://x.example" },
    "webhook_url: must be",
  ],
])(
  "a file request with %s answers 400, states the field and changes nothing",
  async (_case, body, words) => {
    const ctx = await givenChunked();
    const before = listStoredItems(ctx);

    const refused = await whenFiled(ctx.world, ctx.liveKey, body);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.message).toContain(words);
    expect(refused.error.message).toMatch(/Nothing was charged\.$/);
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test.each(asRows<[string, Parameters<typeof whenFormSent>[2], string]>`
  without a file | ${[{ name: "email_column", content: "0" }]} | file: is required
  whose file is a field | ${[{ name: "file", content: formatCsv(createEmails(2)) }]} | file: must be a file with a name
  of a spreadsheet | ${[{ ...FILE_PART, fileName: "list.xlsx" }]} | file: must end in .csv or .txt
  with two files | ${[FILE_PART, FILE_PART]} | file: is sent twice
  with a field twice | ${[FILE_PART, { name: "has_header", content: "1" }, { name: "has_header", content: "0" }]} | has_header: is sent twice
  with a word as has_header | ${[FILE_PART, { name: "has_header", content: "yes" }]} | has_header: must be true or false
  with an action | ${[FILE_PART, { name: "action", content: "process" }]} | ${`action: ${UNREAD}`}
  with a secret | ${[FILE_PART, { name: "webhook_secret", content: "s" }]} | ${`webhook_secret: ${UNREAD}`}
`)("a form %s answers 400, states the field and stores nothing", async (_case, form, words) => {
  const ctx = await givenChunked();
  const before = listStoredItems(ctx);

  const refused = await whenFormSent(ctx.world, ctx.liveKey, form);

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.message).toContain(words);
  expect(listStoredItems(ctx)).toEqual(before);
});

test.each(asRows<[string, string | Buffer, object, string]>`
  an empty file | ${""} | ${{}} | The file is empty.
  a file of blank lines | ${"\n \r\n\n"} | ${{}} | The file is empty.
  a spreadsheet under another name | ${Buffer.from("PK\u0003\u0004\u0000\u0000")} | ${{}} | The file is not a text file.
  a file without addresses | ${"email\nnobody\nnothing\n"} | ${{}} | no e-mail addresses: none of its 2 rows is an address.
  a header row beyond the limit | ${`email${`,${"x".repeat(60_000)}`.repeat(4)}\nann@x.com,1\n`} | ${{}} | The names of the columns are longer than 200,000 bytes in all.
  a first row of 16,000 cells | ${`ann@x.com${",1".repeat(16_000)}\n`} | ${{}} | The names of the columns are longer than 200,000 bytes in all.
  a file with only a header | ${"email\n"} | ${{}} | no e-mail addresses: there are no rows below the header.
  a file without a column of addresses | ${"a,b\n1,2\n"} | ${{}} | No column of the file has e-mail
  an unknown column | ${formatCsv(createEmails(1), "a")} | ${{ email_column: "b" }} | no column "b". It has "a".
  a column beyond the last | ${formatCsv(createEmails(1), "a")} | ${{ email_column: "1" }} | no column "1"
`)(
  "a file request for %s answers 400 with the reason and charges nothing",
  async (_case, content, how, words) => {
    const ctx = await givenChunked();
    const fileKey = await givenUpload(ctx, ctx.liveKey, content);
    const before = listStoredItems(ctx);

    const refused = await whenFiled(
      ctx.world,
      ctx.liveKey,
      createProcessRequest(fileKey, how),
      "k",
    );

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.message).toContain(words);
    expect(refused.error.message).toMatch(/Nothing was charged\.$/);
    expect(listStoredItems(ctx)).toEqual(before);
    expect(ctx.queue.pending()).toBe(0);
  },
);

test("the error about a file's content states the field that held the file", async () => {
  const { world, liveKey } = await givenChunked();
  const fileKey = await givenUpload({ world }, liveKey, "email\n");

  const uploaded = await whenFiled(world, liveKey, createProcessRequest(fileKey, {}), "k");
  const sent = await whenFormSent(world, liveKey, [{ ...FILE_PART, content: "email\n" }]);

  expect(uploaded.error.details).toMatchObject([{ field: "file_key" }]);
  expect(sent.error.details).toMatchObject([{ field: "file" }]);
});

const TWO_COLUMNS = `name,work,home
Ann,ann@x.com,ann@home.com
Bob,,bob@home.com
Cy,cy@x.com,ann@x.com
Dee,nobody,
`;

const givenTwoColumns = async () => {
  const ctx = await givenChunked();
  const send = async (action: string, continues?: string) => {
    const fileKey = await givenUpload(ctx, ctx.liveKey, TWO_COLUMNS);
    const columns = { email_columns: ["work", "HOME"], continues };
    return whenFiled(
      ctx.world,
      ctx.liveKey,
      { ...createProcessRequest(fileKey, columns), action },
      `${action}${continues}`,
    );
  };
  return { ...ctx, send };
};

test("each address of two columns is verified and charged once, and its row keeps all cells", async () => {
  const { send: sendList, ...ctx } = await givenTwoColumns();

  const { data: preview } = await sendList("preview");
  const { data } = await sendList("process");
  await whenQuiet(ctx);
  const csv = await send(ctx.world, "GET /v1/jobs/job_1/download", { key: ctx.liveKey });

  const counts = {
    total_submitted: 6,
    duplicates_removed: 1,
    invalid_emails_skipped: 1,
    unique_emails: 4,
    file: { email_column: "work", email_columns: ["work", "home"], other_email_columns: [] },
  };
  expect(preview).toMatchObject({ ...counts, credits: 4 });
  expect(data).toMatchObject({ ...counts, credits_used: 4, credits_remaining: 96 });
  expect(data.file.skipped_rows).toMatchObject([{ row: 5, text: "nobody" }]);
  expect(csv.text.split("\r\n").map((line) => line.split(",").slice(0, 5).join())).toEqual([
    "name,work,home,email,status",
    "Ann,ann@x.com,ann@home.com,ann@x.com,valid",
    "Ann,ann@x.com,ann@home.com,ann@home.com,valid",
    "Bob,,bob@home.com,bob@home.com,valid",
    "Cy,cy@x.com,ann@x.com,cy@x.com,valid",
    "",
  ]);
  await thenConsistent(ctx);
});

test("a list of two columns is continued without a charge, and an erasure empties both copies of a cell", async () => {
  const { send: sendList, ...ctx } = await givenTwoColumns();
  await sendList("process");
  await whenQuiet(ctx);

  const { data } = await sendList("process", "job_1");
  const { data: preview } = await sendList("preview", "job_1");
  await whenQuiet(ctx);
  const query = { email: "ann@home.com" };
  await send(ctx.world, "DELETE /v1/data", { key: ctx.liveKey, query });
  const csv = await send(ctx.world, "GET /v1/jobs/job_1/download", { key: ctx.liveKey });

  expect(data).toMatchObject({ compared: { new: 0, kept: 4 }, credits_used: 0 });
  expect(preview).toMatchObject({ changed: 0, credits: 0 });
  expect(csv.text).not.toContain("ann@home.com");
  expect(csv.text).toContain("Ann,ann@x.com,,ann@x.com,valid");
  await thenConsistent(ctx);
});

test.each([
  ["an unknown one", ["work", "office"], 'email_columns: The file has no column "office".'],
  ["none", [], "email_columns: must be a list of 1 to 10 columns"],
])("a file with %s of its address columns is refused", async (_case, email_columns, words) => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, TWO_COLUMNS);
  const body = createProcessRequest(fileKey, { email_columns });

  const { statusCode, error } = await whenFiled(ctx.world, ctx.liveKey, body);

  expect([statusCode, `${error.details?.[0]?.field}: ${error.details?.[0]?.message}`]).toEqual([
    400,
    expect.stringContaining(words),
  ]);
});
