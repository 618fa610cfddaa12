import { openAccount } from "@mailproof/core/accounts/accounts";
import { audit } from "@mailproof/core/background/audit";
import { FILE_BYTES_MAX } from "@mailproof/core/intake/uploads";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { rejectDown, withUnreadable } from "../app/faulty-worlds.ts";
import { listMoves, listOutboxEvents, listStoredItems, readCredits } from "../app/ledger.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  formatRows,
  givenChunked,
  givenUpload,
  readJob,
  UPLOADING,
  whenFiled,
  whenFormSent,
  whenProcessed,
  whenPut,
} from "../things/jobs.ts";

test("an upload request answers 200 with a link, a file_key and the next step, and costs nothing", async () => {
  const ctx = await givenChunked({ balance: 0 });
  const body = { action: "get_upload_url", file_name: "My list.CSV" };

  const response = await whenFiled(ctx.world, ctx.liveKey, body);

  expect(response.statusCode).toBe(200);
  expect(response.data).toEqual({
    upload_url: expect.stringContaining(response.data.file_key),
    file_key: `uploads/live/${ctx.account}/upl_1.TXkgbGlzdC5DU1Y.csv`,
    expires_in_seconds: 3_600,
    next_step: expect.stringMatching(/PUT the file.*action process/),
  });
  expect(response.headers["x-ratelimit-limit"]).toBe("600");
  expect(listMoves(ctx)).toEqual([]);
});

test.each([
  [1, 200, undefined],
  [52_428_800, 200, undefined],
  [52_428_801, 413, "PAYLOAD_TOO_LARGE"],
  [-1, 400, "INVALID_REQUEST"],
  [1.5, 400, "INVALID_REQUEST"],
  ["12", 400, "INVALID_REQUEST"],
])("an upload request that declares %j bytes answers %i", async (file_size, status, code) => {
  const ctx = await givenChunked({ balance: 0 });

  const response = await whenFiled(ctx.world, ctx.liveKey, { ...UPLOADING, file_size });

  expect([response.statusCode, response.error?.code]).toEqual([status, code]);
  expect(listMoves(ctx)).toEqual([]);
});

test.each([
  ["list.csv", 200],
  ["LIST.TXT", 200],
  ["list.csv.txt", 200],
  ["list.xlsx", 400],
  ["list.xls", 400],
  ["list.csv.zip", 400],
  ["list", 400],
  ["csv", 400],
  ["list.csv ", 400],
])("an upload request for a file called %j answers %i before any upload", async (name, status) => {
  const { world, liveKey } = await givenChunked();

  const response = await whenFiled(world, liveKey, { action: "get_upload_url", file_name: name });

  expect(response.statusCode).toBe(status);
  expect(
    response.error?.message ?? "file_name: must end in .csv or .txt; save a spreadsheet as CSV",
  ).toContain("file_name: must end in .csv or .txt; save a spreadsheet as CSV");
});

test("a processed file answers 202 with every count, and its job verifies every address", async () => {
  const ctx = await givenChunked();
  const { world, liveKey } = ctx;
  const list =
    "Name,E-Mail\nAnn,ann@x.com\nBo,BO@x.com\nBo again,bo@X.com\nNobody,nobody\n,\nIn,invalid@x.com\n";
  const fileKey = await givenUpload(ctx, liveKey, list);

  const response = await whenFiled(
    world,
    liveKey,
    createProcessRequest(fileKey, { name: "Spring" }),
  );
  await whenWorked(ctx);

  expect(response.statusCode).toBe(202);
  expect(response.data).toEqual({
    job_id: "job_1",
    status: "processing",
    total_submitted: 6,
    duplicates_removed: 1,
    invalid_emails_skipped: 2,
    unique_emails: 3,
    file: {
      email_column: "E-Mail",
      email_column_index: 1,
      other_email_columns: [],
      has_header: true,
      columns: ["Name", "E-Mail"],
      column_count: 2,
      encoding: "utf-8",
      delimiter: "comma",
      skipped_rows: [
        { row: 5, text: "nobody", reason: "syntax.no_at", message: "The @ is missing." },
        { row: 6, text: "", reason: "syntax.empty", message: "The address is empty." },
      ],
    },
    credits_used: 3,
    credits_remaining: 97,
    message: "3 addresses are being verified.",
  });
  const done = await readJob(ctx);
  expect(done).toMatchObject({
    name: "Spring",
    kind: "file",
    status: "completed",
    progress: { total: 3, processed: 3, valid: 2, invalid: 1, risky: 0, unknown: 0 },
  });
  expect(formatRows(done)).toEqual([
    "2 ann@x.com valid",
    "3 BO@x.com valid",
    "7 invalid@x.com invalid",
  ]);
  expect(listMoves(ctx)).toEqual(["hold 3", "settle 3"]);
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
  expect(await audit(ctx.table, world.now())).toMatchObject({ ok: true });
});

test.each(asRows<[string, string, object, readonly string[]]>`
  by name | ${"work,home\na@x.com,b@x.com\n"} | ${{ email_column: "HOME" }} | ${["2 b@x.com valid"]}
  by index | ${"work,home\na@x.com,b@x.com\n"} | ${{ email_column: "1" }} | ${["2 b@x.com valid"]}
  by its content | ${"a,b\nx,b@x.com\n"} | ${{}} | ${["2 b@x.com valid"]}
  in a list without a header | ${"a@x.com;1\nb@x.com;2\n"} | ${{ has_header: false }} | ${["1 a@x.com valid", "2 b@x.com valid"]}
  below a header that is an address | ${"a@x.com\nb@x.com\n"} | ${{ has_header: true }} | ${["2 b@x.com valid"]}
  in a list of bare lines | ${"a@x.com\r\nb@x.com"} | ${{}} | ${["1 a@x.com valid", "2 b@x.com valid"]}
`)("a file and a form find the column of addresses %s", async (_case, list, how, rows) => {
  const twoSteps = await givenChunked();
  const form = await givenChunked();
  const fileKey = await givenUpload(twoSteps, twoSteps.liveKey, list);
  const fields = Object.entries(how).map(([name, content]) => ({
    name,
    content: String(content),
  }));

  const stepped = await whenFiled(
    twoSteps.world,
    twoSteps.liveKey,
    createProcessRequest(fileKey, how),
  );
  const formed = await whenFormSent(form.world, form.liveKey, [
    { name: "file", fileName: "list.csv", content: list },
    ...fields,
  ]);
  for (const ctx of [twoSteps, form]) await whenWorked(ctx);

  expect(formed).toMatchObject({ statusCode: 202, data: stepped.data });
  expect(formatRows(await readJob(twoSteps))).toEqual(rows);
  expect(await readJob(form)).toEqual(await readJob(twoSteps));
});

test("the service reads a UTF-16 file by the byte order mark at its beginning", async () => {
  const ctx = await givenChunked();
  const list = Buffer.from(
    `\ufeff${formatCsv(["jürgen@x.com"], "Straße;email").replace("jü", ";jü")}`,
    "utf16le",
  );
  const fileKey = await givenUpload(ctx, ctx.liveKey, list);

  const { data } = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey));

  expect(data).toMatchObject({ unique_emails: 1, invalid_emails_skipped: 0 });
});

test.each([
  ["without an Idempotency-Key", undefined],
  ["with an Idempotency-Key", "k"],
])(
  "a file answers 402 %s and charges and queues nothing when the credits are too few",
  async (_case, keyed) => {
    const ctx = await givenChunked({ balance: 2.5 });
    const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(3)));
    const before = listStoredItems(ctx);

    const refused = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey), keyed);

    expect(refused).toMatchObject({
      statusCode: 402,
      error: { code: "INSUFFICIENT_CREDITS", details: { needed: 3, available: 2.5 } },
    });
    expect(listStoredItems(ctx)).toEqual(before);
    expect(ctx.queue.pending()).toBe(0);
  },
);

test("processing another account's file_key answers 403", async () => {
  const ctx = await givenChunked();
  const { world } = ctx;
  const bo = await openAccount(world, { name: "Bo", plan: "pro", opening: credits(10) });
  const live = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(1)));

  const answers = [
    await whenFiled(world, bo.liveKey, createProcessRequest(live)),
    await whenFiled(
      world,
      bo.liveKey,
      createProcessRequest("uploads/live/nobody/upl_1.bGlzdC5jc3Y.csv"),
    ),
  ];

  for (const { statusCode, error } of answers)
    expect([statusCode, error.code, error.message]).toEqual([
      403,
      "FORBIDDEN",
      "This file_key belongs to another account. Nothing was charged.",
    ]);
  expect(listMoves(ctx)).toEqual([]);
});

test.each([
  ["live", "test"],
  ["test", "live"],
] as const)(
  "processing a file_key of a %s key with a %s key answers 403 with the reason",
  async (made, used) => {
    const ctx = await givenChunked();
    const keys = { live: ctx.liveKey, test: ctx.testKey };
    const fileKey = await givenUpload(ctx, keys[made], formatCsv(createEmails(1)));

    const { statusCode, error } = await whenFiled(
      ctx.world,
      keys[used],
      createProcessRequest(fileKey),
    );

    expect([statusCode, error.message]).toEqual([
      403,
      `This file_key was created with a ${made} key. Use a ${made} key, or upload the file again with this ${used} key. Nothing was charged.`,
    ]);
    expect(listMoves(ctx)).toEqual([]);
  },
);

test.each(asRows`
  a key without an upload | ${(account: string) => `uploads/live/${account}/upl_9.bGlzdC5jc3Y.csv`}
  a key of another form | ${() => "list.csv"}
  a path out of the folder | ${(account: string) => `uploads/live/${account}/../x/upl_1.bGlzdC5jc3Y.csv`}
  the input of a job | ${() => "inputs/job_1.jsonl"}
  an endless key | ${() => "x".repeat(100_000)}
`)(
  "processing a file_key without an object answers 404 and charges nothing: %s",
  async (_case, keyOf) => {
    const ctx = await givenChunked();
    await whenProcessed(ctx, createEmails(2));
    const before = listStoredItems(ctx);

    const response = await whenFiled(
      ctx.world,
      ctx.liveKey,
      createProcessRequest(keyOf(ctx.account)),
      "k",
    );

    expect(response).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
    expect(response.error.message).toMatch(/Nothing was charged\.$/);
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("a file over fifty million bytes answers 413, uploaded or in a form, and charges nothing", async () => {
  const ctx = await givenChunked();
  const tooLarge = Buffer.concat([
    Buffer.from(formatCsv(createEmails(1))),
    Buffer.alloc(FILE_BYTES_MAX, "\n"),
  ]);
  const fileKey = await givenUpload(ctx, ctx.liveKey, tooLarge);
  const form = [{ name: "file", fileName: "list.txt", content: tooLarge }];

  const answers = [
    await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey)),
    await whenFormSent(ctx.world, ctx.liveKey, form),
  ];

  for (const { statusCode, error } of answers) {
    expect([statusCode, error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(error.message).toMatch(/the maximum is 52,428,800\. Nothing was charged\.$/);
  }
  expect(listMoves(ctx)).toEqual([]);
});

test("a file beyond the plan's number of addresses answers 413 before it reads the balance", async () => {
  const ctx = await givenChunked({ plan: "free", balance: 5, rows: 500 });
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(1_001)));
  const before = listStoredItems(ctx);

  const refused = await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey), "k");

  expect(refused).toMatchObject({
    statusCode: 413,
    error: {
      code: "PAYLOAD_TOO_LARGE",
      message: "The plan free allows 1,000 addresses in one job. Nothing was charged.",
    },
  });
  expect(listStoredItems(ctx)).toEqual(before);
});

test("the plan's limit counts the addresses that remain for verification", async () => {
  const ctx = await givenChunked({ plan: "free", balance: 1_000, rows: 500 });

  const { statusCode, data } = await whenProcessed(ctx, [
    ...createEmails(1_000),
    ...createEmails(1_000),
    "nobody",
  ]);

  expect([statusCode, data.unique_emails, data.credits_used]).toEqual([202, 1_000, 1_000]);
});

test("the response computes credits_remaining from the charge without another read of the balance", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(2)));
  const world = withUnreadable(ctx, "BALANCE#", 1);

  const response = await whenFiled(world, ctx.liveKey, createProcessRequest(fileKey));

  const data = { credits_used: 2, credits_remaining: 98 };
  expect(response).toMatchObject({ statusCode: 202, data });
});

test("replacing a processed upload changes nothing, and processing it again creates another job", async () => {
  const ctx = await givenChunked();
  const { world, liveKey } = ctx;
  const fileKey = await givenUpload(ctx, liveKey, formatCsv(createEmails(3)));
  await whenFiled(world, liveKey, createProcessRequest(fileKey), "k");
  await whenPut(world, fileKey, formatCsv(["bo@x.com"]));

  const repeat = await whenFiled(world, liveKey, createProcessRequest(fileKey), "k");
  const other = await whenFiled(world, liveKey, createProcessRequest(fileKey));
  await whenWorked(ctx);

  expect(repeat.data).toMatchObject({ job_id: "job_1", unique_emails: 3, idempotent_replay: true });
  expect(formatRows(await readJob(ctx))).toEqual(
    createEmails(3).map((email, n) => `${n + 2} ${email} valid`),
  );
  expect(formatRows(await readJob(ctx, other.data.job_id))).toEqual(["2 bo@x.com valid"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 96, held: 0, spent: 4 });
});

test("an upload replaced during the read is processed as one file or the other", async () => {
  const ctx = await givenChunked();
  const { world, liveKey, blobs } = ctx;
  const fileKey = await givenUpload(ctx, liveKey, formatCsv(createEmails(3)));
  const replacing = {
    ...world,
    blobs: {
      ...blobs,
      head: async (key: string) => {
        const metadata = await blobs.head(key);
        await whenPut(world, key, formatCsv(["bo@x.com"]));
        return metadata;
      },
    },
  };

  const response = await whenFiled(replacing, liveKey, createProcessRequest(fileKey));

  expect(response.statusCode).toBe(404);
  expect(listMoves(ctx)).toEqual([]);
});

test.each(["head", "get", "put"] as const)(
  "a file answers 503 and charges nothing when every %s of files fails",
  async (portName) => {
    const ctx = await givenChunked();
    const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(2)));
    const world = { ...ctx.world, blobs: { ...ctx.blobs, [portName]: rejectDown } };

    const response = await whenFiled(world, ctx.liveKey, createProcessRequest(fileKey));

    expect(response).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
    expect(response.error.message).toMatch(/Nothing was charged\.$/);
    expect(listMoves(ctx)).toEqual([]);
  },
);

test("a file answers 503 and charges nothing when reading it takes more than fifteen seconds", async () => {
  const ctx = await givenChunked();
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(2)));
  const get: typeof ctx.blobs.get = async (...args) => {
    await ctx.world.sleep(15_001);
    return ctx.blobs.get(...args);
  };
  const world = { ...ctx.world, blobs: { ...ctx.blobs, get } };

  const response = await whenFiled(world, ctx.liveKey, createProcessRequest(fileKey));

  expect(response).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
  expect(listMoves(ctx)).toEqual([]);
});
