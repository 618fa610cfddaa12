import { readEvent } from "@mailproof/core/webhooks/items";
import { describe, expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { listStoredItems } from "../app/ledger.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  readJob,
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

describe("the answer says what was found in a file", () => {
  test.each(asRows<[string, string | Uint8Array, object]>`
  a list of one column without a header | ${"ann@x.com\nbo@x.com\n"} | ${{ email_column: "column_1", has_header: false, delimiter: "none", encoding: "utf-8" }}
  semicolons, and a second column of addresses | ${"id;Work mail;E-Mail\n1;ann@x.com;bo@y.com\n"}
    | ${{ email_column: "E-Mail", email_column_index: 2, other_email_columns: ["Work mail"], columns: ["id", "Work mail", "E-Mail"], column_count: 3, delimiter: "semicolon" }}
  tabs | ${"id\temail\n1\tann@x.com\n"} | ${{ delimiter: "tab" }}
  bars | ${"id|email\n1|ann@x.com\n"} | ${{ delimiter: "pipe" }}
  what sep= says | ${"sep=^\nid^email\n1^ann@x.com\n"} | ${{ delimiter: "^" }}
  windows-1252 | ${Buffer.from("Name,email\nM\u00fcller,ann@x.com\n", "latin1")} | ${{ encoding: "windows-1252" }}
  UTF-16 | ${Buffer.from("\ufeffName,email\nAnn,ann@x.com\n", "utf16le")} | ${{ encoding: "utf-16le" }}
  a letter of another encoding far from the beginning | ${Buffer.from(`Name,email\n${"Ann,ann@x.com\n".repeat(30_000)}J\u00f6rg,jo@x.com\n`, "latin1")}
    | ${{ encoding: "windows-1252" }}
  more columns than an answer has room for | ${`${["email", ...Array.from({ length: 99 }, (_, n) => `c${n}`)].join(",")}\nann@x.com\n`}
    | ${{ column_count: 100, columns: expect.objectContaining({ length: 20 }) }}
`)("%s", async (_case, content, expected) => {
    expect(await readFoundList(content)).toMatchObject(expected);
  });

  test("and the first ten rows that it skipped: where, what stood there, and why", async () => {
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

  test("also to a repeat under the same Idempotency-Key", async () => {
    const { world, liveKey } = await givenChunked();
    const fileKey = await givenUpload({ world }, liveKey, "email\nann@x.com\nnobody\n");

    const first = await whenFiled(world, liveKey, createProcessRequest(fileKey), "k");
    const repeat = await whenFiled(world, liveKey, createProcessRequest(fileKey), "k");

    expect(repeat.data).toMatchObject({ idempotent_replay: true, file: first.data.file });
    expect(repeat.data.file.skipped_rows).toHaveLength(1);
  });
});

test("the message names a second column of addresses, which is not verified", async () => {
  const { world, liveKey } = await givenChunked();
  const fileKey = await givenUpload({ world }, liveKey, "work,home\nann@x.com,bo@x.com\n");

  const { data } = await whenFiled(world, liveKey, createProcessRequest(fileKey));

  expect(data.message).toBe(
    '1 address is being verified. Column "home" also holds addresses and is not verified.',
  );
});

test("an address is read with its name, as mailto:, and with invisible characters around it", async () => {
  const ctx = await givenChunked();
  const cells = ["Ada <ada@x.com>", "mailto:bo@x.com?subject=Hi", "\u200bcy@x.com\u00a0"];
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(cells));

  const { data } = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));
  await whenWorked(ctx);

  expect(data).toMatchObject({ unique_emails: 3, invalid_emails_skipped: 0 });
  const { results } = await readJob(ctx);
  expect(results.map(({ email }: { email: string }) => email)).toEqual([
    "ada@x.com",
    "bo@x.com",
    "cy@x.com",
  ]);
});

describe("the job is called", () => {
  test.each([
    ["as its file is", "Spring customers.csv", undefined, "Spring customers.csv"],
    ["as its file is, in any letters", "Käufer 列表.CSV", undefined, "Käufer 列表.CSV"],
    ["as the caller says", "list.csv", "Autumn", "Autumn"],
  ])("%s, in two steps and in a form", async (_case, fileName, name, called) => {
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

  test("by no more of a long name than a key has room for, and by no half of a letter", async () => {
    const ctx = await givenChunked();
    const { data } = await whenFormSent(ctx.world, ctx.liveKey, [
      filePart("ann@x.com\n", `${"é".repeat(100)}.csv`),
    ]);

    expect(await readJob(ctx, data.job_id)).toMatchObject({ name: "é".repeat(75) });
  });
});

describe("a form takes", () => {
  test("name, webhook_url and options, as a body does", async () => {
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

  test.each<[string, string, string, string]>([
    ["options that are no JSON", "options", "deep_verify=false", "options: must be JSON"],
    ["options that are a list", "options", "[]", "options: must be an object"],
    [
      "an unknown option",
      "options",
      '{"timeout_ms":5}',
      "options.timeout_ms: is not a known field",
    ],
    [
      "an option of another type",
      "options",
      '{"deep_verify":"no"}',
      "options.deep_verify: must be true or false",
    ],
    ["a callback without TLS", "webhook_url", "http://x.example", "webhook_url: must be"],
    ["an endless name", "name", "x".repeat(201), "name: must have at most 200"],
    ["a field that every object has", "constructor", "x", "constructor: is not a known field"],
  ])("no %s: 400, and nothing is written", async (_case, name, content, words) => {
    const ctx = await givenChunked();
    const before = listStoredItems(ctx);

    const refused = await whenFormSent(ctx.world, ctx.liveKey, [filePart(), { name, content }]);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.message).toContain(words);
    expect(listStoredItems(ctx)).toEqual(before);
  });

  test("options that are sent as a file, as some clients do, up to the length of a field", async () => {
    const { world, liveKey } = await givenChunked();
    const sendOptions = (content: string) =>
      whenFormSent(world, liveKey, [filePart(), { name: "options", fileName: "blob", content }]);

    expect(await sendOptions('{"deep_verify":false}')).toMatchObject({ statusCode: 202 });
    expect(await sendOptions(" ".repeat(20_000))).toMatchObject({ statusCode: 400 });
  });

  test("with another option or name is another request under the same key", async () => {
    const { world, liveKey } = await givenChunked();
    const sendName = (name: string) =>
      whenFormSent(world, liveKey, [filePart(), { name: "name", content: name }], "k");

    expect(await sendName("Spring")).toMatchObject({ statusCode: 202 });
    expect(await sendName("Spring")).toMatchObject({ data: { idempotent_replay: true } });
    expect(await sendName("Autumn")).toMatchObject({ error: { code: "IDEMPOTENCY_KEY_CONFLICT" } });
  });
});
