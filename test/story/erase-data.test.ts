import { inflateRawSync } from "node:zlib";
import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { createDamagedBlobs, withTable } from "../app/faulty-worlds.ts";
import { givenKey, START } from "../app/given.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import {
  createProcessRequest,
  formatRows,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";

const EMAIL = "zachary.quill@example.com";
const WORD = "zachary.quill";
const ROUTE = "DELETE /v1/data";

const whenErased = (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  email = EMAIL,
  key = liveKey,
) => send(world, ROUTE, { key, query: { email } });

/** Every text of an item, decompressed where it is compressed. */
const toTexts = (item: object): string[] =>
  Object.values(item).flatMap((value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
    try {
      return [text, inflateRawSync(Buffer.from(text, "base64")).toString()];
    } catch {
      return [text];
    }
  });

/** Where the address stands in plain text: kinds of items, and blobs. */
const findMentions = async ({ table, blobs }: TestContext, word = WORD): Promise<string[]> => {
  const pattern = new RegExp(`(?<![a-z])${word.replaceAll(".", "\\.")}`, "i");
  const items = table.items().filter((item) => toTexts(item).some((text) => pattern.test(text)));
  const found = await Promise.all(
    blobs.keys().map(async (key) => {
      const stored = await blobs.get(key);
      const bytes = Buffer.concat(await Array.fromAsync(stored?.content ?? []));
      return pattern.test(bytes.toString()) ? [key] : [];
    }),
  );
  return [...items.map(({ pk }) => pk.split("#")[0] ?? ""), ...found.flat()].toSorted();
};

const LIST = `name,e-mail,friend
Ann,ann@x.com,Zachary.Quill@example.com
Zack,Zachary.Quill@Example.com,ann@x.com
Bo,bo@x.com,jzachary.quill@example.com
Zack again,${EMAIL},
Two,${EMAIL}; ann@x.com,
`;

/** One address, everywhere that an account can have it. */
const givenEverywhere = async (): Promise<TestContext> => {
  const ctx = await givenChunked();
  const { world, liveKey: key } = ctx;
  await whenVerified(world, key, { email: EMAIL }, "verify");
  await whenVerified(world, key, { email: EMAIL, options: { deep_verify: false } });
  await whenBatched(world, key, { emails: ["ann@x.com", EMAIL, "bo@x.com"] }, "batch");
  const fileKey = await givenUpload(ctx, key, LIST);
  await whenFiled(world, key, createProcessRequest(fileKey, { email_column: "e-mail" }), "file");
  await send(world, "POST /v1/find", {
    key,
    body: { first_name: "Zachary", last_name: "Quill", domain: "example.com" },
  });
  await send(world, "POST /v1/activity/events", {
    key,
    body: {
      events: [{ id: "1", type: "open", email: EMAIL, occurred_at: START.toISOString() }],
    },
  });
  await whenWorked(ctx);
  await send(world, "GET /v1/jobs/job_4/download", {
    key,
    query: { format: "json", selection: "all" },
  });
  return ctx;
};

test("an erasure of a text without an address clears the cache in every spelling", async () => {
  const { world, liveKey } = await givenChunked();
  await whenVerified(world, liveKey, { email: "Zachary.Quill@" });

  const { data } = await whenErased({ world, liveKey }, "zachary.quill@");

  expect(data).toMatchObject({ complete: true, erased: { cached_results: 1 } });
});

test("an erasure answers 200, and no stored item of the account contains the address afterwards", async () => {
  const ctx = await givenEverywhere();
  const before = new Set(await findMentions(ctx));
  expect([...before]).toEqual(
    expect.arrayContaining(["CACHED", "CLAIM", "RESULTS", "inputs/job_4.jsonl"]),
  );

  const { statusCode, data } = await whenErased(ctx);

  expect(await findMentions(ctx)).toEqual([]);
  expect([statusCode, data]).toEqual([
    200,
    {
      complete: true,
      jobs_open: 0,
      erased: {
        cached_results: 2,
        responses: 2,
        activity_records: 1,
        verdicts: 1,
        mail_tests: 0,
        job_rows: 5,
      },
    },
  ]);
  const { data: activity } = await send(ctx.world, `GET /v1/activity/${EMAIL}`, {
    key: ctx.liveKey,
  });
  expect(activity.activity.total_opens).toBe(0);
});

test("an erasure keeps the rows' places and statuses and the cells of other people", async () => {
  const ctx = await givenEverywhere();

  await whenErased(ctx);

  expect(formatRows(await readJob(ctx, "job_3"))).toEqual([
    "1 ann@x.com valid",
    "2 [erased] valid",
    "3 bo@x.com valid",
  ]);
  const { text, headers } = await send(ctx.world, "GET /v1/jobs/job_4/download", {
    key: ctx.liveKey,
    query: { selection: "all" },
  });
  expect(headers["x-export-complete"]).toBe("true");
  expect(text.split("\r\n").map((line) => line.split(",").slice(0, 3).join())).toEqual([
    "name,e-mail,friend",
    "Ann,ann@x.com,",
    ",[erased],",
    "Bo,bo@x.com,jzachary.quill@example.com",
    ",,",
    ",,",
    "",
  ]);
});

test("an erasure moves no money, and repeating a request with an erased response costs nothing", async () => {
  const ctx = await givenEverywhere();
  const [moves, credit] = [listMoves(ctx), await readCredits(ctx)];

  await whenErased(ctx);
  const repeat = await whenVerified(ctx.world, ctx.liveKey, { email: EMAIL }, "verify");
  const search = await send(ctx.world, "POST /v1/find", {
    key: ctx.liveKey,
    body: { first_name: "Zachary", last_name: "Quill", domain: "example.com" },
  });
  const batch = await whenBatched(
    ctx.world,
    ctx.liveKey,
    { emails: ["ann@x.com", EMAIL, "bo@x.com"] },
    "batch",
  );

  expect(repeat).toMatchObject({
    statusCode: 409,
    error: {
      code: "RESULT_DELETED",
      message:
        "The result of this Idempotency-Key was erased. To verify the address again, use a new key. Nothing more was charged.",
    },
  });
  expect(search).toMatchObject({
    statusCode: 200,
    data: { idempotent_replay: true, status: "unknown", email: null },
  });
  expect(batch).toMatchObject({ statusCode: 202, data: { job_id: "job_3", credits_used: 0 } });
  expect(listMoves(ctx)).toEqual(moves);
  expect(await readCredits(ctx)).toEqual(credit);
  await thenConsistent(ctx);
});

test("a second erasure answers 200 and finds nothing", async () => {
  const ctx = await givenEverywhere();
  await whenErased(ctx);

  const { statusCode, data } = await whenErased(ctx, "ZACHARY.QUILL@example.com");

  expect(statusCode).toBe(200);
  expect(data.erased).toEqual({
    cached_results: 0,
    responses: 0,
    activity_records: 0,
    verdicts: 0,
    mail_tests: 0,
    job_rows: 0,
  });
});

test("an erasure removes the address from another row's suggestion and keeps that row", async () => {
  const ctx = await givenChunked();
  const typo = "zachary.quill@gmial.com";
  await whenBatched(ctx.world, ctx.liveKey, { emails: [typo, "ann@x.com"] });
  await whenWorked(ctx);
  const suggestion = (await readJob(ctx, "job_1")).results[0].ai.typo_suggestion;

  await whenErased(ctx, suggestion);

  const [row] = (await readJob(ctx, "job_1")).results;
  expect([suggestion, row.email, row.ai.typo_suggestion]).toEqual([
    "zachary.quill@gmail.com",
    typo,
    null,
  ]);
});

test("an erasure during a job answers 202 and ends after the job without another request", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["greylisted@x.com", EMAIL] });
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["greylisted@x.com"] });
  await whenWorked(ctx);

  const early = await whenErased(ctx);
  const repeat = await whenErased(ctx);
  await whenQuiet(ctx);

  expect(early).toMatchObject({ statusCode: 202, data: { complete: false, jobs_open: 1 } });
  expect(repeat.statusCode).toBe(202);
  expect(await findMentions(ctx)).toEqual([]);
  expect(await whenErased(ctx)).toMatchObject({ statusCode: 200, data: { complete: true } });
  await thenConsistent(ctx);
});

test("a repeated erasure after the job's cancellation erases the rest at once", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["greylisted@x.com", EMAIL] });
  await whenWorked(ctx);
  const early = await whenErased(ctx);

  await send(ctx.world, "POST /v1/jobs/job_1/cancel", { key: ctx.liveKey });
  const repeat = await whenErased(ctx);

  expect(early).toMatchObject({ statusCode: 202, data: { complete: false, jobs_open: 1 } });
  expect(repeat).toMatchObject({ statusCode: 200, data: { complete: true, jobs_open: 0 } });
  expect(await findMentions(ctx)).toEqual([]);
});

test("an erasure waits for a slow verification that is under way", async () => {
  const ctx = await givenChunked();
  const body = { email: `slow+${WORD}@x.com`, options: { timeout_ms: 100 } };
  await whenVerified(ctx.world, ctx.liveKey, body);

  const early = await whenErased(ctx, body.email);
  await whenWorked(ctx);
  await whenQuiet(ctx);

  expect(early).toMatchObject({ statusCode: 202, data: { jobs_open: 1 } });
  expect(await findMentions(ctx, `slow+${WORD}`.replace("+", "\\+"))).toEqual([]);
});

test("an erasure keeps the changes of another address's erasure", async () => {
  const ctx = await givenEverywhere();

  await Promise.all([whenErased(ctx), whenErased(ctx, "ann@x.com")]);
  await whenQuiet(ctx);

  expect(await findMentions(ctx)).toEqual([]);
  expect(await findMentions(ctx, "ann@x")).toEqual([]);
  expect(formatRows(await readJob(ctx, "job_3"))).toEqual([
    "1 [erased] valid",
    "2 [erased] valid",
    "3 bo@x.com valid",
  ]);
});

test("an erasure keeps the data of other accounts and of the account's test key", async () => {
  const ctx = await givenEverywhere();
  const other = await openAccount(ctx.world, { name: "Bo", plan: "pro", opening: credits(10) });
  await whenVerified(ctx.world, other.liveKey, { email: EMAIL }, "theirs");

  await whenErased(ctx, EMAIL, ctx.testKey);
  expect((await findMentions(ctx)).length).toBeGreaterThan(5);
  await whenErased(ctx);

  expect(await findMentions(ctx)).toEqual(["CACHED", "CLAIM"]);
  const repeat = await whenVerified(ctx.world, other.liveKey, { email: EMAIL }, "theirs");
  expect(repeat).toMatchObject({ statusCode: 200, data: { email: EMAIL } });
});

test("a job deleted during an erasure stays deleted", async () => {
  const ctx = await givenEverywhere();
  const { blobs } = ctx.world;
  const put: typeof blobs.put = async (key, content) => {
    await send(ctx.world, "DELETE /v1/jobs/job_3", { key: ctx.liveKey });
    return blobs.put(key, content);
  };

  await whenErased({ ...ctx, world: { ...ctx.world, blobs: { ...blobs, put } } });
  await whenQuiet(ctx);

  expect(await findMentions(ctx)).toEqual([]);
  expect(ctx.blobs.keys().filter((key) => key.includes("job_3"))).toEqual([]);
});

test("deleting the job removes a list that an erasure wrote before it died", async () => {
  const ctx = await givenEverywhere();
  const { blobs } = ctx.world;
  const put: typeof blobs.put = async (key, content) => {
    await send(ctx.world, "DELETE /v1/jobs/job_3", { key: ctx.liveKey });
    await blobs.put(key, content);
    throw new Error("the process is gone");
  };

  await whenErased({ ...ctx, world: { ...ctx.world, blobs: { ...blobs, put } } });
  expect(ctx.blobs.keys()).toContainEqual(expect.stringMatching(/^inputs\/job_3\.txn/));
  await whenQuiet(ctx);

  expect(ctx.blobs.keys().filter((key) => key.includes("job_3"))).toEqual([]);
});

test("an erasure removes a list that the disk cannot read, since redaction is impossible", async () => {
  const ctx = await givenEverywhere();
  const blobs = createDamagedBlobs(ctx.world.blobs, (key) =>
    key === "inputs/job_4.jsonl" ? 3 : undefined,
  );

  const { statusCode } = await whenErased({ ...ctx, world: { ...ctx.world, blobs } });

  expect(statusCode).toBe(200);
  expect(ctx.blobs.keys().filter((key) => /(?:inputs|exports)\/job_4|uploads/.test(key))).toEqual(
    [],
  );
  expect(formatRows(await readJob(ctx, "job_4"))).toEqual([
    "2 ann@x.com valid",
    "3 [erased] valid",
    "4 bo@x.com valid",
  ]);
});

test("an erasure ends only after the table's log is scrubbed, which an open reader delays", async () => {
  const ctx = await givenEverywhere();
  let isRead = true;
  const scrub = async () => {
    if (isRead) throw new Error("another process reads the table");
  };
  const world = withTable(ctx, { scrub });

  const blocked = await whenErased({ ...ctx, world });
  const recordsThen = ctx.table.items().filter(({ sk }) => sk === "ERASURE");
  isRead = false;
  await whenQuiet({ ...ctx, world });

  expect(blocked).toMatchObject({ statusCode: 202, data: { complete: false } });
  expect(recordsThen).toHaveLength(1);
  expect(ctx.table.items().filter(({ sk }) => sk === "ERASURE")).toEqual([]);
  expect(await findMentions(ctx)).toEqual([]);
});

test("an erasure answers 503 when its write has no reply", async () => {
  const ctx = await givenEverywhere();
  const world = withTable(ctx, {
    write: async (write) =>
      "create" in write && write.create.sk === "ERASURE"
        ? { outcome: "ambiguous" }
        : ctx.table.write(write),
  });

  expect(await whenErased({ ...ctx, world })).toMatchObject({
    statusCode: 503,
    error: { retryable: true },
  });
  expect((await whenErased(ctx)).statusCode).toBe(200);
});

test("an erasure with a key that lacks one of the two scopes answers 403", async () => {
  const { world, account } = await givenChunked();
  const query = { email: EMAIL };
  const ask = async (scopes: Parameters<typeof givenKey>[2]["scopes"]) =>
    send(world, ROUTE, { key: await givenKey(world, account, { scopes }), query });

  const responses = [
    await ask(["verification:write"]),
    await ask(["activity:write"]),
    await ask(["verification:write", "activity:write"]),
  ];

  expect(responses.map(({ statusCode }) => statusCode)).toEqual([403, 403, 200]);
});

test("an erased address stays out of the parent when a child was verifying it again", async () => {
  const ctx = await givenChunked();
  const emails = ["ann@example.com", EMAIL, "bo@example.com"];
  await whenBatched(ctx.world, ctx.liveKey, { emails });
  await whenQuiet(ctx);
  const again = { key: ctx.liveKey, body: { filter: "score:0-100" } };
  await send(ctx.world, "POST /v1/jobs/job_1/again", again);

  const response = await whenErased(ctx);
  await whenQuiet(ctx);

  expect(response.data).toMatchObject({ complete: false });
  expect(await findMentions(ctx)).toEqual([]);
  const job = await readJob(ctx);
  expect(formatRows(job)[1]).toMatch(/^2 \[erased\] /);
  expect(job.summary.top_domains).toEqual([{ domain: "example.com", count: 2 }]);
  await thenConsistent(ctx);
});
