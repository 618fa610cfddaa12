import { openAsBlob, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AppWorld } from "@mailproof/core/app-world";
import { findExport, iterateExports } from "@mailproof/core/exports/export-items";
import type { ExportOptions } from "@mailproof/core/exports/export-options";
import { makeExport } from "@mailproof/core/exports/export-worker";
import { summarizeExport } from "@mailproof/core/exports/exported-rows";
import { removeExports } from "@mailproof/core/exports/remove-exports";
import { requestExport } from "@mailproof/core/exports/request-export";
import { openWorkbook } from "@mailproof/core/intake/spreadsheet/read-spreadsheet";
import type { Json } from "@mailproof/core/ports/table";
import { findJob } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../../app/drain-queues.ts";
import { given } from "../../app/given.ts";
import { createFolder } from "../../servers/running.ts";
import { createRows, givenJobOf, type TestContext, verifyEmail } from "../../things/export-jobs.ts";

// The worker of exports, and what becomes of an export when a process dies at any moment.

const JSON_OF_ALL: ExportOptions = {
  format: "json",
  filter: "all",
  selection: "verified",
  text: null,
  delimiter: null,
};
const ROWS = 7;

/** A job of four chunks whose export is large: three parts of a chunk or two. */
const givenLargeJob = async (also: Parameters<typeof givenJobOf>[2] = {}) => {
  const ctx = await given();
  const rows = createRows(await verifyEmail(ctx.world, "ann@x.com"), ROWS);
  const chunks = [rows.slice(0, 2), rows.slice(2, 3), rows.slice(3, 5), rows.slice(5)];
  await givenJobOf(ctx, chunks, also);
  const settings = { ...ctx.world.settings, exportRows: { inRequest: 4, part: 2 } };
  return { ...ctx, world: { ...ctx.world, settings } };
};

const request = async (world: AppWorld, options = JSON_OF_ALL) => {
  const job = await findJob(world.table, "job_1");
  if (!job) throw new Error("there is no such job");
  return requestExport(world, await summarizeExport(world.table, job), options);
};

const findOnly = async ({ table }: AppWorld) => {
  const [only, ...others] = await Array.fromAsync(iterateExports(table, "job_1"));
  expect(others).toEqual([]);
  return only;
};

/** The rows of the file behind a link. */
const readRows = async (
  { blobs }: AppWorld,
  requested: Awaited<ReturnType<typeof requestExport>>,
): Promise<readonly number[]> => {
  if (requested.state !== "ready") throw new Error("the export is not ready");
  const [, key = ""] = /(exports\/[^?]+)\?/.exec(requested.link.url) ?? [];
  const found = await blobs.get(key);
  const text = Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString();
  if (key.endsWith(".csv"))
    return text
      .trimEnd()
      .split("\r\n")
      .slice(1)
      .map((_, at) => at + 1);
  return JSON.parse(text).rows.map(({ row }: { row: number }) => row);
};

const ALL = Array.from({ length: ROWS }, (_, at) => at + 1);

const receiveAll = async ({ queue }: TestContext): Promise<readonly Json[]> =>
  (await queue.receive(makeExport.queue, { waitMs: 0 })).map(({ body }) => body);

test.each<ExportOptions>([JSON_OF_ALL, { ...JSON_OF_ALL, format: "csv" }])(
  "workers write a large export in parts, in any order, and the last part completes it: $format",
  async (options) => {
    const ctx = await givenLargeJob();
    expect((await request(ctx.world, options)).state).toBe("pending");
    const messages = await receiveAll(ctx);
    expect(messages).toHaveLength(3);

    for (const message of messages.toReversed()) {
      expect((await request(ctx.world, options)).state).toBe("pending");
      await makeExport.handle(ctx.world, message);
    }

    expect(await readRows(ctx.world, await request(ctx.world, options))).toEqual(ALL);
    const { id } = (await findOnly(ctx.world)) ?? {};
    expect(ctx.blobs.keys()).toEqual([`exports/job_1/${id}.${options.format}`]);
    expect(await receiveAll(ctx)).toEqual([]);
  },
);

test("one worker writes a large spreadsheet as one part", async () => {
  const ctx = await givenLargeJob();
  const options: ExportOptions = { ...JSON_OF_ALL, format: "xlsx" };
  expect((await request(ctx.world, options)).state).toBe("pending");
  const messages = await receiveAll(ctx);
  expect(messages).toHaveLength(1);

  for (const message of messages) await makeExport.handle(ctx.world, message);

  const ready = await request(ctx.world, options);
  if (ready.state !== "ready") throw new Error("the export is not ready");
  expect(ready.link.url).toContain(".xlsx");
  const { id } = (await findOnly(ctx.world)) ?? {};
  const found = await ctx.blobs.get(`exports/job_1/${id}.xlsx`);
  const file = join(createFolder(), "export.xlsx");
  writeFileSync(file, Buffer.concat(await Array.fromAsync(found?.content ?? [])));
  const rows: (readonly string[])[] = [];
  const { sheets, read } = await openWorkbook(await openAsBlob(file));
  await read(sheets[0] ?? "", (cells) => void rows.push(cells));
  expect(rows).toHaveLength(ROWS + 1);
});

test("repeated messages change no export, not even a finished one", async () => {
  const ctx = await givenLargeJob();
  await request(ctx.world);
  const messages = await receiveAll(ctx);
  for (const message of [...messages, ...messages]) await makeExport.handle(ctx.world, message);

  expect(await readRows(ctx.world, await request(ctx.world))).toEqual(ALL);
  expect(ctx.blobs.keys()).toHaveLength(1);
});

/** The same world, with something before each call of a store. */
const withBefore = (world: AppWorld, before: () => Promise<void>): AppWorld => {
  const { table, blobs } = world;
  const call = async <T>(next: () => Promise<T>): Promise<T> => {
    await before();
    return next();
  };
  return {
    ...world,
    table: {
      ...table,
      get: (key) => call(() => table.get(key)),
      query: (query) => call(() => table.query(query)),
      write: (write) => call(() => table.write(write)),
    },
    blobs: {
      ...blobs,
      put: (key, content) => call(() => blobs.put(key, content)),
      join: (key, parts) => call(() => blobs.join(key, parts)),
      remove: (key) => call(() => blobs.remove(key)),
    },
  };
};

/** A process that dies at its nth call: nothing it would do afterwards happens. */
const createDyingWorld = (world: AppWorld, calls: number): AppWorld => {
  let left = calls;
  return withBefore(world, async () => {
    if (left-- <= 0) throw new Error("the process died");
  });
};

/** As many as the worker makes for the last part, and the file. */
const CALLS_MAX = 30;

test("other workers complete an export after a worker dies anywhere, and the file is whole or absent", async () => {
  let deaths = 0;
  for (let calls = 0; calls < CALLS_MAX; calls++) {
    const ctx = await givenLargeJob();
    await request(ctx.world);
    const messages = await receiveAll(ctx);
    const dying = createDyingWorld(ctx.world, calls);
    for (const message of messages)
      await makeExport.handle(dying, message).catch(() => void deaths++);

    const meanwhile = await request(ctx.world);
    const rows = meanwhile.state === "ready" ? await readRows(ctx.world, meanwhile) : ALL;
    expect(rows).toEqual(ALL);
    // The queue delivers the messages of the dead process again, or the reconciler sends others.
    await whenQuiet(ctx);

    expect(await readRows(ctx.world, await request(ctx.world))).toEqual(ALL);
    expect(await findOnly(ctx.world)).toMatchObject({ state: "ready" });
  }
  expect(deaths).toBeGreaterThan(CALLS_MAX);
});

test("the reconciler sends the messages that an export lacks", async () => {
  const ctx = await givenLargeJob();
  const lost = { ...ctx.queue, sendMany: async () => [] };
  await request({ ...ctx.world, queue: lost });
  await whenWorked(ctx);
  expect((await request(ctx.world)).state).toBe("pending");

  ctx.later(130_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect((await request(ctx.world)).state).toBe("ready");
});

test("an export that no worker can write fails once, and the next request begins again", async () => {
  const ctx = await givenLargeJob();
  await request(ctx.world);
  for (const message of await receiveAll(ctx)) await makeExport.giveUp?.handle(ctx.world, message);

  await expect(request(ctx.world)).rejects.toMatchObject({ code: "NOT_READY", retryable: true });
  expect((await request(ctx.world)).state).toBe("pending");
  await whenWorked(ctx);
  expect((await request(ctx.world)).state).toBe("ready");
});

test("the reconciler gives up an export whose messages are lost again and again", async () => {
  const ctx = await givenLargeJob();
  const world = { ...ctx.world, queue: { ...ctx.queue, sendMany: async () => [] } };
  await request(world);

  for (let minutes = 0; minutes < 60; minutes++) {
    ctx.later(60_000);
    await whenReconciled({ world });
  }

  expect(await findOnly(world)).toMatchObject({ state: "failed" });
  expect(ctx.table.hasScheduledWork()).toBe(false);
});

test("an export's files stay removed when a worker still writes them after their job's deletion", async () => {
  for (let calls = 0; calls < CALLS_MAX; calls++) {
    const ctx = await givenLargeJob();
    await request(ctx.world);
    let left = calls;
    // The removal takes place between two calls of the worker.
    const world = withBefore(ctx.world, async () => {
      if (left-- === 0) await removeExports(ctx.world, "job_1");
    });
    for (const message of await receiveAll(ctx))
      await makeExport.handle(world, message).catch(() => undefined);
    await removeExports(ctx.world, "job_1");

    expect(ctx.blobs.keys()).toEqual([]);
    expect(await findOnly(ctx.world)).toBeUndefined();
  }
});

test("a job whose rows change during its export gets another export of the remaining rows", async () => {
  const ctx = await givenLargeJob();
  await request(ctx.world);
  const [first, ...others] = await receiveAll(ctx);
  await makeExport.handle(ctx.world, first ?? null);
  await ctx.table.write({ remove: { pk: "CHUNKS#job_1", sk: "00003" } });
  for (const message of others) await makeExport.handle(ctx.world, message);

  expect((await request(ctx.world)).state).toBe("pending");
  await whenWorked(ctx);
  expect(await readRows(ctx.world, await request(ctx.world))).toEqual([1, 2, 3, 4, 5]);
});

test("a running job's export consists of one part, and answers its waiting request although more rows are done", async () => {
  const ctx = await givenLargeJob({ status: "processing", total: 20 });
  await request(ctx.world);
  expect((await findOnly(ctx.world))?.starts).toEqual([0]);
  await whenWorked(ctx);
  await ctx.table.write({ update: { pk: "JOB#job_1", sk: "JOB" }, add: { processed: 1 } });

  expect(await readRows(ctx.world, await request(ctx.world))).toEqual(ALL);
  ctx.later(61_000);
  expect((await request(ctx.world)).state).toBe("pending");
});

test("two concurrent requests begin one export", async () => {
  const ctx = await givenLargeJob();

  await Promise.all([request(ctx.world), request(ctx.world)]);

  expect(await findOnly(ctx.world)).toMatchObject({ state: "pending" });
  await whenWorked(ctx);
  expect(ctx.blobs.keys()).toHaveLength(1);
});

test("a message for a replaced export changes nothing", async () => {
  const ctx = await givenLargeJob();
  await request(ctx.world);
  const [first] = await receiveAll(ctx);
  await removeExports(ctx.world, "job_1");
  await request(ctx.world);
  const before = await findOnly(ctx.world);

  await makeExport.handle(ctx.world, first ?? null);

  expect(await findExport(ctx.table, { job: "job_1", kind: before?.kind ?? "" })).toEqual(before);
});
