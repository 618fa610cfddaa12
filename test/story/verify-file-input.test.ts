import { expect, test } from "vitest";
import { listStoredItems } from "../app/ledger.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  createEmails,
  createProcessRequest,
  FILE_PART,
  formatCsv,
  givenChunked,
  givenUpload,
  PROCESSING,
  UPLOADING,
  whenFiled,
  whenFormSent,
} from "../things/jobs.ts";

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
  ["no action", { file_name: "list.csv" }, "action: must be get_upload_url or process"],
  ["another action", { action: "verify" }, "action: must be get_upload_url or process"],
  ["an upload without a name", { action: "get_upload_url" }, "file_name: is required"],
  ["an upload with an empty name", { ...UPLOADING, file_name: "" }, "file_name: must not be empty"],
  ["an endless name", { ...UPLOADING, file_name: `${"x".repeat(252)}.csv` }, "at most 255"],
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
  ["processing nothing", { action: "process" }, "file_key: is required"],
  ["processing an empty key", createProcessRequest(""), "file_key: must not be empty"],
  ["a column that is a number", { ...PROCESSING, email_column: 1 }, "email_column: must be string"],
  ["a column without a name", { ...PROCESSING, email_column: "" }, "email_column: must not be"],
  ["an endless column", { ...PROCESSING, email_column: "x".repeat(201) }, "at most 200"],
  ["a header in words", { ...PROCESSING, has_header: "yes" }, "has_header: must be true or false"],
  ["a wait", { ...PROCESSING, options: { timeout_ms: 1_000 } }, `options.timeout_ms: ${UNREAD}`],
  [
    "a callback without TLS",
    { ...PROCESSING, webhook_url: "http://x.example" },
    "webhook_url: must be",
  ],
])("%s is 400, names the field, and changes nothing", async (_case, body, words) => {
  const ctx = await givenChunked();
  const before = listStoredItems(ctx);

  const refused = await whenFiled(ctx.world, ctx.liveKey, body);

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.message).toContain(words);
  expect(refused.error.message).toMatch(/Nothing was charged\.$/);
  expect(listStoredItems(ctx)).toEqual(before);
});

test.each(asRows<[string, Parameters<typeof whenFormSent>[2], string]>`
  without a file | ${[{ name: "email_column", content: "0" }]} | file: is required
  whose file is a field | ${[{ name: "file", content: formatCsv(createEmails(2)) }]} | file: must be a file with a name
  of a spreadsheet | ${[{ ...FILE_PART, fileName: "list.xlsx" }]} | file: must end in .csv or .txt
  with two files | ${[FILE_PART, FILE_PART]} | file: is sent twice
  with a field twice | ${[FILE_PART, { name: "has_header", content: "1" }, { name: "has_header", content: "0" }]} | has_header: is sent twice
  with a header in words | ${[FILE_PART, { name: "has_header", content: "yes" }]} | has_header: must be true or false
  with an action | ${[FILE_PART, { name: "action", content: "process" }]} | ${`action: ${UNREAD}`}
  with a secret | ${[FILE_PART, { name: "webhook_secret", content: "s" }]} | ${`webhook_secret: ${UNREAD}`}
`)("a form %s is 400, names the field, and writes nothing", async (_case, form, words) => {
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
  a file of a header | ${"email\n"} | ${{}} | no e-mail addresses: there are no rows below the header.
  a file in which nothing is an address | ${"a,b\n1,2\n"} | ${{}} | No column of the file has e-mail
  a column that is not there | ${formatCsv(createEmails(1), "a")} | ${{ email_column: "b" }} | no column "b". It has "a".
  a column beyond the last | ${formatCsv(createEmails(1), "a")} | ${{ email_column: "1" }} | no column "1"
`)("%s is 400, says why, and charges nothing", async (_case, content, how, words) => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, content);
  const before = listStoredItems(ctx);

  const refused = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, how), "k");

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.message).toContain(words);
  expect(refused.error.message).toMatch(/Nothing was charged\.$/);
  expect(listStoredItems(ctx)).toEqual(before);
  expect(ctx.queue.pending()).toBe(0);
});

test("a fault of a file names the field that held the file", async () => {
  const { world, liveKey } = await givenChunked();
  const fileKey = await givenUpload({ world }, liveKey, "email\n");

  const uploaded = await whenFiled(world, liveKey, createProcessRequest(fileKey, {}), "k");
  const sent = await whenFormSent(world, liveKey, [{ ...FILE_PART, content: "email\n" }]);

  expect(uploaded.error.details).toMatchObject([{ field: "file_key" }]);
  expect(sent.error.details).toMatchObject([{ field: "file" }]);
});
