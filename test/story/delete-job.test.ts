import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import type { Write } from "@mailproof/core/ports/table";
import { CHUNKS_QUEUE } from "@mailproof/core/rows/chunk-messages";
import { expect, test } from "vitest";
import { whenQuiet, whenWorked } from "../app/drain-queues.ts";
import { withTable } from "../app/faulty-worlds.ts";
import { listMoves, listStoredItems, readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  type TestContext,
  whenBatched,
  whenFiled,
  whenProcessed,
} from "../things/jobs.ts";

type Deleting = Pick<TestContext, "world" | "liveKey">;

const whenDeleted = ({ world, liveKey }: Deleting, id = "job_1", key = liveKey) =>
  send(world, `DELETE /v1/jobs/${id}`, { key });

const ask = ({ world, liveKey: key }: Deleting, route: string, query = {}) =>
  send(world, route, { key, query });

/** All stored items of a job but the ledger and the events. */
const listLeftovers = (ctx: TestContext): string[] =>
  listStoredItems(ctx)
    .filter(({ pk }) => /^(?:JOB|CHUNKS|RESULTS|DEFERRED|EXPORTS|DELETION)#/.test(pk))
    .map(({ pk, sk }) => `${pk} ${sk}`);

/** Without the passes whose evidence may still come: they have no addresses. */
const listParts = (ctx: TestContext): string[] =>
  listLeftovers(ctx).filter((part) => !part.startsWith("DELETION#job_1 PASS#"));

/** A completed file with an export that a link leads to. */
const givenExported = async (): Promise<TestContext> => {
  const ctx = await givenChunked();
  await whenProcessed(ctx, [...createEmails(5), "ann1@x.com"]);
  await whenWorked(ctx);
  const route = "GET /v1/jobs/job_1/download";
  const { headers } = await ask(ctx, route, { format: "json", selection: "all" });
  expect(headers["x-export-complete"]).toBe("true");
  return ctx;
};

const isDeleting = (write: Write) => "create" in write && write.create.sk === "DELETION";

test("deleting a completed job answers 200 and removes its list, its results and its upload", async () => {
  const ctx = await givenExported();
  expect(ctx.blobs.keys()).toHaveLength(6);

  const response = await whenDeleted(ctx);

  expect(response).toMatchObject({ statusCode: 200, data: { job_id: "job_1", deleted: true } });
  expect((await ask(ctx, "GET /v1/jobs/job_1")).statusCode).toBe(404);
  expect((await ask(ctx, "GET /v1/jobs/job_1/download")).statusCode).toBe(404);
  expect((await ask(ctx, "GET /v1/jobs/job_1/callbacks")).statusCode).toBe(404);
  expect((await ask(ctx, "GET /v1/jobs")).data).toMatchObject({ jobs: [], total: 0 });
  expect(ctx.blobs.keys()).toEqual([]);
  expect(listParts(ctx)).toEqual(["DELETION#job_1 DELETION"]);
});

test("the ledger keeps the cost of a deleted job, without an address", async () => {
  const ctx = await givenExported();
  const before = listMoves(ctx);

  await whenDeleted(ctx);
  await whenQuiet(ctx);

  expect(listMoves(ctx)).toEqual(before);
  expect(await readCredits(ctx)).toMatchObject({ available: 95, spent: 5 });
  expect(JSON.stringify(listStoredItems(ctx))).not.toContain("ann1");
  expect(listLeftovers(ctx)).toEqual([]);
  await thenConsistent(ctx);
});

test("a job deleted twice or by two requests at once returns one response for an hour", async () => {
  const ctx = await givenExported();

  const responses = [
    ...(await Promise.all([whenDeleted(ctx), whenDeleted(ctx)])),
    await whenDeleted(ctx),
  ];
  await whenQuiet(ctx);

  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect((await whenDeleted(ctx)).statusCode).toBe(404);
});

test("deleting a cancelled job removes its deferred rows, and no attempt follows", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@x.com", "greylisted@x.com"] });
  await whenWorked(ctx);
  await send(ctx.world, "POST /v1/jobs/job_1/cancel", { key: ctx.liveKey });

  await whenDeleted(ctx);
  await whenQuiet(ctx);

  expect(listLeftovers(ctx)).toEqual([]);
  expect(await readCredits(ctx)).toMatchObject({ available: 99, spent: 1 });
  await thenConsistent(ctx);
});

test("deleting the job of a slow verification removes its result", async () => {
  const ctx = await givenChunked();
  const body = { email: "slow@x.com", options: { timeout_ms: 100 } };
  await whenVerified(ctx.world, ctx.liveKey, body);
  await whenWorked(ctx);

  await whenDeleted(ctx);
  await whenQuiet(ctx);

  expect(listLeftovers(ctx)).toEqual([]);
});

test("the service removes within the hour a page that a worker stores after its job was deleted", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });
  const [message] = await ctx.queue.receive(CHUNKS_QUEUE, { waitMs: 0 });
  let isFirst = true;
  const world = withTable(ctx, {
    // Between the read of the job and the first page, the job is cancelled and deleted.
    write: async (write) => {
      if (isFirst && "put" in write && write.put.pk.startsWith("RESULTS#")) {
        isFirst = false;
        await send(ctx.world, "POST /v1/jobs/job_1/cancel", { key: ctx.liveKey });
        await whenDeleted(ctx);
      }
      return ctx.table.write(write);
    },
  });
  await verifyChunk.handle(world, message?.body ?? null);
  expect(listLeftovers(ctx)).toContainEqual(expect.stringContaining("RESULTS#job_1#0"));

  await whenQuiet(ctx);

  expect(listLeftovers(ctx)).toEqual([]);
  expect(await readCredits(ctx)).toMatchObject({ available: 100, spent: 0 });
  await thenConsistent(ctx);
});

test.each([
  ["a page of results", "GET /v1/jobs/job_1", {}],
  ["an export", "GET /v1/jobs/job_1/download", { format: "json" }],
])(
  "reading %s answers 404 when the job is deleted during the read",
  async (_what, route, query) => {
    const ctx = await givenExported();
    let isFirst = true;
    const world = withTable(ctx, {
      query: async (asked) => {
        const page = await ctx.table.query(asked);
        if (isFirst && asked.pk.startsWith("RESULTS#")) {
          isFirst = false;
          await whenDeleted(ctx);
        }
        return page;
      },
    });

    expect((await ask({ ...ctx, world }, route, query)).statusCode).toBe(404);
  },
);

test("a repeat of the creating request answers 409 for a deleted job and charges nothing", async () => {
  const ctx = await givenChunked();
  const body = { emails: createEmails(2) };
  await whenBatched(ctx.world, ctx.liveKey, body, "batch");
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(3)));
  const request = createProcessRequest(fileKey);
  await whenFiled(ctx.world, ctx.liveKey, request, "file");
  const slow = { email: "slow@x.com", options: { timeout_ms: 100 } };
  await whenVerified(ctx.world, ctx.liveKey, slow, "single");
  await whenWorked(ctx);
  for (const id of ["job_1", "job_2", "job_3"])
    expect((await whenDeleted(ctx, id)).statusCode).toBe(200);

  const repeats = [
    await whenBatched(ctx.world, ctx.liveKey, body, "batch"),
    await whenFiled(ctx.world, ctx.liveKey, request, "file"),
    await whenVerified(ctx.world, ctx.liveKey, slow, "single"),
  ];

  for (const { statusCode, error } of repeats)
    expect([statusCode, error]).toMatchObject([
      409,
      {
        code: "RESULT_DELETED",
        message:
          "The job of this Idempotency-Key was deleted. To verify the addresses again, use a new key. Nothing more was charged.",
        money: "nothing_more",
      },
    ]);
  expect(await readCredits(ctx)).toMatchObject({ available: 94, spent: 6 });
  expect(listLeftovers(ctx).filter((one) => !one.startsWith("DELETION#"))).toEqual([]);
});

test("deleting a running job answers 409 with advice, and the job continues", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) });

  const response = await whenDeleted(ctx);

  expect(response).toMatchObject({
    statusCode: 409,
    error: {
      code: "JOB_OPEN",
      message:
        "The job has not ended, so it cannot be deleted. Cancel it first. Nothing was charged.",
    },
  });
  await whenWorked(ctx);
  expect((await ask(ctx, "GET /v1/jobs/job_1")).data.status).toBe("completed");
});

test("a deletion answers 503 when its write has no reply, and a repeat returns the outcome", async () => {
  const ctx = await givenExported();
  const world = withTable(ctx, {
    transact: async (writes, attempt) => {
      if (!writes.some(isDeleting)) return ctx.table.transact(writes, attempt);
      await ctx.table.transact(writes, attempt);
      return { outcome: "ambiguous" };
    },
    get: (key) =>
      key.sk === "DELETION" ? Promise.reject(new Error("no reply")) : ctx.table.get(key),
  });

  const response = await whenDeleted({ ...ctx, world });

  expect(response).toMatchObject({ statusCode: 503, error: { retryable: true } });
  expect((await whenDeleted(ctx)).statusCode).toBe(200);
  await whenQuiet(ctx);
  expect(listLeftovers(ctx)).toEqual([]);
});
