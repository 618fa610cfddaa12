import { setRetention } from "@mailproof/core/accounts/retention";
import type { AppWorld } from "@mailproof/core/app-world";
import { verifySingle } from "@mailproof/core/lists/chunk-worker";
import { credits } from "@mailproof/core/money/credits";
import { BLOB_RETENTION_DAYS } from "@mailproof/core/ports/blobs";
import { toChunkItem } from "@mailproof/core/rows/chunks";
import { NO_PROGRESS, toJobItem } from "@mailproof/core/rows/items";
import { toPageItems } from "@mailproof/core/rows/results";
import { verify } from "@mailproof/core/verify/verify";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { readCredits } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { givenChunked, type TestContext, whenBatched } from "../things/jobs.ts";

const DAY_MS = 86_400_000;

const whenRead = (
  world: AppWorld,
  key: string,
  query: Readonly<Record<string, string>> = {},
  id = "job_1",
) => send(world, `GET /v1/jobs/${id}`, { key, query });

/** A job of one address that the worker has finished. */
const givenDone = async (body: object = { email: "slow@x.com" }) => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, body);
  await whenWorked(ctx);
  return ctx;
};

/** A job of chunks, of which each has so many rows; one that was refunded has none to read. */
const givenChunks = async (
  chunks: readonly (number | "refunded")[],
  status: "processing" | "completed" = "completed",
) => {
  const ctx = await given();
  const { world, account, table } = ctx;
  const options = { deepVerify: true, includeAi: false, includeEvidence: false };
  const result = await verify(world.engine, "ann@x.com", options);
  const expiresAt = world.now().getTime() / 1000 + 3_600;
  let row = 0;
  for (const [chunk, rows] of chunks.entries()) {
    const count = rows === "refunded" ? 0 : rows;
    const outcome = rows === "refunded" ? ("refunded" as const) : ("done" as const);
    const ended = {
      job: "job_1",
      chunk,
      outcome,
      rows: count,
      waiting: 0,
      from: 0,
      to: 0,
      checksum: 0,
      again: 0,
    };
    await table.write({ create: toChunkItem({ ...ended, passes: ["pass"] }) });
    const here = Array.from({ length: count }, () => {
      row++;
      return { row, result: { ...result, email: `ann+${row}@x.com` } };
    });
    const position = { job: "job_1", chunk, token: "pass" };
    for (const page of toPageItems(position, here, expiresAt)) await table.write({ put: page });
  }
  const buckets = { valid: row, invalid: 0, risky: 0, unknown: 0 };
  const job = {
    ...NO_PROGRESS,
    id: "job_1",
    owner: account,
    account,
    mode: "live",
    kind: "file",
    name: "List",
    status,
    createdAt: world.now().toISOString(),
    retentionSeconds: 3_600,
    total: 2_000,
    processed: row,
    ...buckets,
    held: credits(0),
    shard: 0,
    reason: "verify_file",
  } as const;
  await table.write({ create: toJobItem(job) });
  return ctx;
};

/** The numbers of all rows, as page after page shows them. */
const getPages = async (world: AppWorld, key: string, limit: string): Promise<number[][]> => {
  const pages: number[][] = [];
  let nextKey: string | undefined;
  do {
    const query = { limit, ...(nextKey && { next_key: nextKey }) };
    const { data } = await whenRead(world, key, query);
    pages.push((data.results ?? []).map(({ row }: { row: number }) => row));
    nextKey = data.next_key;
  } while (nextKey !== undefined);
  return pages;
};

const upTo = (count: number) => Array.from({ length: count }, (_row, n) => n + 1);

test("a finished job answers 200 with the same result as a quick verification", async () => {
  const { world, liveKey } = await givenDone();

  const { statusCode, data } = await whenRead(world, liveKey);

  const quick = await whenVerified(world, liveKey, { email: "slow@x.com" });
  const { cached, credits_used, ...result } = quick.data;
  expect([cached, credits_used]).toEqual([true, 0.5]);
  expect(statusCode).toBe(200);
  expect(data).toEqual({
    job_id: "job_1",
    kind: "single",
    status: "completed",
    progress: { total: 1, processed: 1, valid: 1, invalid: 0, risky: 0, unknown: 0 },
    processed_emails: 1,
    created_at: "2026-11-21T00:00:00.000Z",
    completed_at: "2026-11-21T00:00:40.000Z",
    results: [{ ...result, row: 1 }],
  });
});

test("a job without results returns a cursor that continues when results exist", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey } = ctx;
  await whenVerified(world, liveKey, { email: "slow@x.com" });

  const { data } = await whenRead(world, liveKey);
  const { next_key } = data;
  await whenWorked(ctx);
  const after = await whenRead(world, liveKey, { next_key });

  expect(data.status).toBe("pending");
  expect(data).not.toHaveProperty("results");
  expect(data).not.toHaveProperty("completed_at");
  expect(after.data).toMatchObject({ status: "completed", results: [{ row: 1 }] });
  expect(after.data).not.toHaveProperty("next_key");
});

test.each([
  ["ai by default", {}, { ai: true, evidence: false }],
  [
    "evidence without ai",
    { include_ai: false, include_evidence: true },
    { ai: false, evidence: true },
  ],
])("a row contains the parts that the job's options request: %s", async (_case, options, parts) => {
  const { world, liveKey } = await givenDone({ email: "slow@x.com", options });

  const [row] = (await whenRead(world, liveKey)).data.results;

  expect({ ai: "ai" in row, evidence: "evidence" in row }).toEqual(parts);
});

test.each([
  ["false", false],
  ["true", true],
  ["False", true],
  ["FALSE", true],
  ["0", true],
  ["no", true],
  ["", true],
  [" false", true],
])("a read with include_results=%j contains the results: %s", async (include_results, areThere) => {
  const { world, liveKey } = await givenDone();

  const { statusCode, data } = await whenRead(world, liveKey, { include_results });

  expect(statusCode).toBe(200);
  expect("results" in data).toBe(areThere);
});

test.each([
  ["one row", [1]],
  ["exactly one stored page", [100]],
  ["one row more than a stored page", [101]],
  ["several chunks", [250, 1, 120]],
  ["a refunded chunk between others", [3, "refunded" as const, 5]],
  ["a refunded chunk at the end", [3, "refunded" as const]],
  ["an empty chunk", [3, 0, 5]],
])("the pages of results list every row once in the order of the input: %s", async (_, chunks) => {
  const { world, liveKey } = await givenChunks(chunks);
  const rows = chunks.reduce<number>((sum, one) => sum + (one === "refunded" ? 0 : one), 0);

  for (const limit of ["1", "3", "7", "100", "101", "1000"].slice(rows > 100 ? 2 : 0)) {
    const pages = await getPages(world, liveKey, limit);
    expect(pages.flat(), `limit ${limit}`).toEqual(upTo(rows));
    const full = pages.slice(0, -1).every((page) => page.length === Number(limit));
    expect(full, `limit ${limit}`).toBe(true);
    expect(pages.length, `limit ${limit}`).toBe(Math.ceil(rows / Number(limit)));
  }
});

test("a page of results contains a hundred rows without a limit and at most a thousand with one", async () => {
  const { world, liveKey } = await givenChunks([500, 500, 1]);

  const pages = [
    await whenRead(world, liveKey),
    await whenRead(world, liveKey, { limit: "1001" }),
    await whenRead(world, liveKey, { limit: "99999999999999999999" }),
    await whenRead(world, liveKey, { limit: "010" }),
  ];

  expect(pages.map(({ data }) => data.results.length)).toEqual([100, 1_000, 1_000, 10]);
});

test("the next page of results contains a chunk that was verified after the reader passed its place", async () => {
  const { world, liveKey, table } = await givenChunks([2, "refunded", 2], "processing");
  const result = await verify(world.engine, "late@x.com", {
    deepVerify: true,
    includeAi: false,
    includeEvidence: false,
  });
  await table.write({ remove: { pk: "CHUNKS#job_1", sk: "00001" } });
  const first = await whenRead(world, liveKey, { limit: "3" });
  const late = { job: "job_1", chunk: 1, token: "late" };
  for (const page of toPageItems(late, [{ row: 9, result }], 2_000_000_000))
    await table.write({ put: page });
  const done = {
    outcome: "done" as const,
    rows: 1,
    waiting: 0,
    from: 0,
    to: 0,
    checksum: 0,
    again: 0,
  };
  await table.write({ create: toChunkItem({ ...late, ...done, passes: ["late"] }) });

  const { data } = await whenRead(world, liveKey, { limit: "3", next_key: first.data.next_key });

  expect(first.data.results.map(({ row }: { row: number }) => row)).toEqual([1, 2, 3]);
  expect(data.results.map(({ row }: { row: number }) => row)).toEqual([4, 9]);
});

test.each([
  ["an invented cursor", { next_key: "WzAsMCwwXQ" }, "next_key: must be a next_key"],
  [
    "an invented cursor and include_results=false",
    { next_key: "x", include_results: "false" },
    "next_key",
  ],
])(
  "a read of a job with %s answers 400 and states the field",
  async (_case, query: Record<string, string>, words) => {
    const { world, liveKey } = await givenDone();

    const refused = await whenRead(world, liveKey, query);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.message).toContain(words);
  },
);

test("a read of a job answers 400 for an id with broken percent-encoding", async () => {
  const { world, liveKey } = await givenDone();

  expect((await whenRead(world, liveKey, {}, "%ED%A0%80")).statusCode).toBe(400);
});

test.each(["", " "])("a blank next_key (%j) returns the first page", async (next_key) => {
  const { world, liveKey } = await givenDone();

  const [first, blank] = [
    await whenRead(world, liveKey),
    await whenRead(world, liveKey, { next_key }),
  ];

  expect(blank.data).toEqual(first.data);
  expect(blank.data.results).toHaveLength(1);
});

test("a job stays readable after the plan's days, without its results", async () => {
  const { world, liveKey, later } = await givenDone();
  later(30 * DAY_MS - 41_000);
  const last = await whenRead(world, liveKey);
  later(41_000);

  const after = await whenRead(world, liveKey);

  expect(last.data.results).toHaveLength(1);
  expect(after.data).toMatchObject({ status: "completed", processed_emails: 1 });
  expect(after.data).not.toHaveProperty("results");
});

test("a failed job states its reason and its refund", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey } = ctx;
  await whenVerified(world, liveKey, { email: "slow@x.com" });
  await verifySingle.giveUp?.handle(world, { job: "job_1" });

  const { data } = await whenRead(world, liveKey);

  expect(data).toMatchObject({ status: "failed", progress: { total: 1, processed: 0 } });
  expect(data.error).toMatch(/The charge was refunded\.$/);
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0, refunded: 1 });
});

// One row of a job, with the evidence of its verdict.

const EMAILS = ["ann@x.com", "invalid@x.com", "greylisted@x.com", "bo@x.com"];
const givenJob = async (): Promise<TestContext> => {
  const ctx = await givenChunked({ rows: 3 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: EMAILS });
  await whenWorked(ctx);
  return ctx;
};

const whenRowRead = (
  { world, liveKey }: Pick<TestContext, "world" | "liveKey">,
  row: number | string,
  { job = "job_1", key = liveKey } = {},
) => send(world, `GET /v1/jobs/${job}/results/${row}`, { key });

const listEvidence = ({ blobs }: TestContext): readonly string[] =>
  blobs.keys().filter((key) => key.startsWith("evidence/"));

test("a row of a list shows its result and the evidence of a single verification", async () => {
  const ctx = await givenJob();

  const { statusCode, data } = await whenRowRead(ctx, 2);

  const single = await whenVerified(ctx.world, ctx.liveKey, {
    email: "invalid@x.com",
    options: { include_evidence: true },
  });
  const { credits_used, cached, ...expected } = single.data;
  expect([credits_used, cached]).toEqual([1, false]);
  expect(statusCode).toBe(200);
  expect(data).toEqual({ ...expected, row: 2, verified_at: data.verified_at });
  expect(data.evidence).toMatchObject({ rule: "sandbox", mail_host: "mx.sandbox.test" });
  expect(data.evidence.score.length).toBeGreaterThan(0);
});

test("a job of one address shows the evidence that its request asked for", async () => {
  const ctx = await givenChunked();
  const options = { include_evidence: true };
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com", options });
  await whenWorked(ctx);

  const { data } = await whenRowRead(ctx, 1);

  expect(data).toMatchObject({ email: "slow@x.com", row: 1, evidence: { rule: "sandbox" } });
});

test("the service keeps a row's evidence for seven days and its result for longer", async () => {
  const ctx = await givenJob();
  ctx.later(BLOB_RETENTION_DAYS["evidence/"] * DAY_MS - 1);
  const before = await whenRowRead(ctx, 1);
  ctx.later(1);

  const { statusCode, data } = await whenRowRead(ctx, 1);

  expect(before.data).toHaveProperty("evidence");
  expect(statusCode).toBe(200);
  expect(data.email).toBe("ann@x.com");
  expect(data).not.toHaveProperty("evidence");
});

test("the service stores no evidence for an account that keeps results for fewer days", async () => {
  const ctx = await givenChunked({ rows: 3 });
  await setRetention(ctx.world.table, ctx.account, 6);
  await whenBatched(ctx.world, ctx.liveKey, { emails: EMAILS });
  await whenWorked(ctx);

  const { data } = await whenRowRead(ctx, 1);

  expect(data.email).toBe("ann@x.com");
  expect(data).not.toHaveProperty("evidence");
  expect(listEvidence(ctx)).toEqual([]);
});

test("a row shows its result when its evidence cannot be stored or is damaged", async () => {
  const ctx = await givenChunked({ rows: 3 });
  const { world } = ctx;
  const put: typeof world.blobs.put = async (key, content) => {
    if (key.startsWith("evidence/")) throw new Error("the disk is full");
    return world.blobs.put(key, content);
  };
  const full = { ...ctx, world: { ...world, blobs: { ...world.blobs, put } } };
  await whenBatched(full.world, ctx.liveKey, { emails: EMAILS });
  await whenWorked(full);

  const { statusCode, data } = await whenRowRead(ctx, 1);

  expect([statusCode, data.status]).toEqual([200, "valid"]);
  expect(data).not.toHaveProperty("evidence");
  expect(ctx.logged.map(({ event }) => event)).toContain("evidence_not_stored");
});

test("erasing an address removes the evidence of its chunk", async () => {
  const ctx = await givenJob();
  expect(listEvidence(ctx)).toHaveLength(2);

  await send(ctx.world, "POST /v1/jobs/job_1/cancel", { key: ctx.liveKey });
  await send(ctx.world, "DELETE /v1/data", { key: ctx.liveKey, query: { email: "ann@x.com" } });

  const [erased, beside, other] = await Promise.all([1, 2, 4].map((row) => whenRowRead(ctx, row)));
  expect(erased?.data).toMatchObject({ email: "[erased]", row: 1 });
  expect(erased?.data).not.toHaveProperty("evidence");
  expect(beside?.data).not.toHaveProperty("evidence");
  expect(other?.data).toHaveProperty("evidence");
  expect(listEvidence(ctx)).toHaveLength(1);
});

test.each<[string, number | string]>([
  ["that waits for another attempt", 3],
  ["beyond the list", 99],
  ["with a word as its number", "one"],
  ["before the first", 0],
])("a read of a row %s answers 404", async (_case, row) => {
  const ctx = await givenJob();

  const { statusCode, error } = await whenRowRead(ctx, row);

  expect(statusCode).toBe(404);
  expect(error.message).toContain("no result yet");
});
