import { toChunkItem } from "@mailproof/core/jobs/chunks";
import type { Job } from "@mailproof/core/jobs/items";
import { NOTHING_READ, type ReadProgress, readResultPage } from "@mailproof/core/jobs/result-pages";
import { toPageItems } from "@mailproof/core/jobs/results";
import type { Item, Table } from "@mailproof/core/ports/table";
import { expect, test } from "vitest";
import { verifyEmail } from "../../export-jobs.ts";
import { givenWorld } from "../../given.ts";

const CHUNKS = 250;
const EXPIRES_AT = 2_000_000_000;

type OneJob = Pick<Job, "id" | "status">;
const RUNNING: OneJob = { id: "job_1", status: "processing" };
const OVER: OneJob = { id: "job_1", status: "completed" };

/** Each chunk has two rows: one of its first pass, and one that was deferred. */
const setupJob = async () => {
  const { world, table } = givenWorld();
  const result = await verifyEmail(world, "ann@x.com");
  const finish = async (chunk: number, passes: readonly string[]): Promise<void> => {
    const token = passes.at(-1) ?? "";
    const row = 2 * chunk + passes.length;
    const chunkKey = { job: "job_1", chunk, token };
    for (const page of toPageItems(chunkKey, [{ row, result }], EXPIRES_AT))
      await table.write({ put: page });
    const counts = { outcome: "done" as const, rows: passes.length, waiting: 2 - passes.length };
    const item: Item = toChunkItem({
      job: "job_1",
      chunk,
      ...counts,
      from: 0,
      to: 0,
      checksum: 0,
      passes,
    });
    await table.write({ put: item });
  };
  return { table, finish };
};

const readTo = async (table: Table, job: OneJob, from: ReadProgress, limit: number) => {
  const pages: number[][] = [];
  for (let next: ReadProgress | undefined = from; ; ) {
    const page = await readResultPage(table, job, next, limit);
    pages.push(page.rows.map(({ row }) => row));
    if (!page.next || page.rows.length === 0) return { pages, next: page.next };
    next = page.next;
  }
};

test("a reader gets the late rows of many chunks in short pages, each row once", async () => {
  const { table, finish } = await setupJob();
  for (let chunk = 0; chunk < CHUNKS; chunk++) await finish(chunk, ["one"]);
  const early = await readTo(table, RUNNING, NOTHING_READ, 1_000);
  for (let chunk = 0; chunk < CHUNKS; chunk++) await finish(chunk, ["one", "two"]);

  const late = await readTo(table, OVER, early.next ?? NOTHING_READ, 1_000);

  expect(early.pages.map(({ length }) => length)).toEqual([100, 100, 50, 0]);
  expect(late.pages.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(late.next).toBeUndefined();
  const rows = [...early.pages, ...late.pages].flat().toSorted((a, b) => a - b);
  expect(rows).toEqual(Array.from({ length: 2 * CHUNKS }, (_row, n) => n + 1));
});

test("the cursor omits chunks that were read completely, so that it stays short for a job read after its end", async () => {
  const { table, finish } = await setupJob();
  for (let chunk = 0; chunk < 20; chunk++) {
    await finish(chunk, ["one"]);
    await finish(chunk, ["one", "two"]);
  }

  const { next } = await readResultPage(table, OVER, NOTHING_READ, 31);

  expect(next).toEqual({ before: 15, passes: [], partial: { chunk: 15, passes: 2, row: 32 } });
});
