import { openAccount } from "@mailproof/core/accounts/accounts";
import { createRateLimit } from "@mailproof/core/accounts/rate-limit";
import type { AppWorld } from "@mailproof/core/app-world";
import { createCsvReader } from "@mailproof/core/intake/csv-reader";
import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import { credits } from "@mailproof/core/money/credits";
import type { Json, Table } from "@mailproof/core/ports/table";
import { createSqliteTable } from "@mailproof/local/storage/sqlite-table";
import fc from "fast-check";
import { expect, test } from "vitest";
import { whenReconciled } from "../app/drain-queues.ts";
import { givenWorld } from "../app/given.ts";
import { send } from "../app/send.ts";
import { probing, receiveAll } from "../core/lists/working-chunks.ts";
import { memoryTable } from "../simulation/memory-table.ts";
import { givenFileJob, givenSmallChunks, whenMessagesWorked } from "../things/export-jobs.ts";
import { whenBatched } from "../things/jobs.ts";

/** What a list may hold: signs and letters that mean something to a reader, a writer or a spreadsheet. */
const cell = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[a-z0-9]{1,5}$/),
      fc.constantFrom(",", ";", "\t", "|", '"', "\n", "\r\n", " ", "é", "中", "'"),
      fc.constantFrom("=", "+", "-", "@", "+49 30 1234", "-5", "＝", "\u200b"),
    ),
    { maxLength: 4 },
  )
  .map((pieces) => pieces.join(""));

const email = fc.constantFrom(
  "ann@x.com",
  "Ann@X.com",
  " bob@x.com ",
  "Cy <cy@x.com>",
  "mailto:dan@x.com",
  "eve@x.com;",
  "ann@x.com, bob@x.com",
  "none",
  "",
  "=fay@x.com",
);

const list = fc.record({
  // The first row says what the delimiter and the column are.
  rows: fc.array(fc.tuple(cell, email, cell), { maxLength: 12 }),
  delimiter: fc.constantFrom(",", ";", "\t", "|"),
});

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
/** A cell as it may come back: unchanged, or with an apostrophe before what looks like a formula. */
const isSame = (outcome: string | undefined, was: string): boolean =>
  outcome === was || (outcome === `'${was}` && /^[=@\t\r\n＝＠+-]/.test(was));

test("an export with selection=all returns every cell of a list in its place, or guarded", async () => {
  await fc.assert(
    fc.asyncProperty(list, async ({ rows, delimiter }) => {
      const ctx = await givenSmallChunks(3);
      const sent = [["1", "last@x.com", "2"], ...rows];
      const lines = [["a", "e-mail", "b"], ...sent].map((cells) =>
        cells.map(quoted).join(delimiter),
      );
      const job = await givenFileJob(ctx, { text: lines.join("\r\n") });
      await whenMessagesWorked(ctx);

      const options = { key: ctx.liveKey, query: { selection: "all" } };
      const { text, headers } = await send(ctx.world, `GET /v1/jobs/${job}/download`, options);

      const [header, ...records] = createCsvReader(delimiter)(text.replace(/^\ufeff/, ""), true);
      expect(header?.slice(0, 5)).toEqual(["a", "e-mail", "b", "row", "row_outcome"]);
      expect(records.map((cells) => Number(cells[3]))).toEqual(sent.map((_, n) => n + 2));
      const changed = sent.flatMap((cells, n) =>
        cells.filter((was, at) => !isSame(records[n]?.[at], was)),
      );
      expect(changed).toEqual([]);
      expect(headers["x-export-expected-rows"]).toBe(String(sent.length));
      const areReported = records.map(([, , , row, outcome, first, , , , status]) =>
        outcome === "duplicate"
          ? Number(first) < Number(row)
          : outcome === (status === "" ? "skipped" : "verified"),
      );
      expect(areReported).not.toContain(false);
    }),
    { numRuns: 150 },
  );
});

// Goal: a reader who follows next_key from the first page to a page without one has every row of the job exactly once.
// Method: the real worker handles chunks in a drawn order, some of them twice, while rows are deferred for a drawn number
// of passes. Several readers read pages of drawn sizes at drawn moments, over memory and over SQLite.

const OPEN_STATUSES = ["pending", "processing", "enqueue_unknown"];

type Step =
  | { readonly kind: "work"; readonly which: number; readonly again: boolean }
  | { readonly kind: "wait" }
  | { readonly kind: "read"; readonly reader: number; readonly limit: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("work" as const),
      which: fc.nat(),
      again: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("read" as const),
      reader: fc.nat({ max: 2 }),
      limit: fc.integer({ min: 1, max: 9 }),
    }),
  },
);

const history = fc.record({
  /** For each row, how often its mail server says "later". */
  deferrals: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 24 }),
  rowsPerChunk: fc.integer({ min: 1, max: 7 }),
  steps: fc.array(step, { maxLength: 40 }),
  lastLimit: fc.integer({ min: 1, max: 30 }),
});

const setupJob = async (
  newTable: (now: () => Date) => Table & { readonly close: () => void },
  {
    deferrals,
    rowsPerChunk,
  }: { readonly deferrals: readonly number[]; readonly rowsPerChunk: number },
) => {
  const ctx = givenWorld();
  const table = newTable(ctx.world.now);
  const left = deferrals.slice();
  const world: AppWorld = probing(
    {
      ...ctx.world,
      table,
      rateLimit: createRateLimit(table, ctx.world.now),
      settings: { ...ctx.world.settings, chunkRows: { batch: rowsPerChunk, file: rowsPerChunk } },
    },
    (probe) => (question) => {
      const row = Number(question.recipient.slice(1).split("@")[0]);
      const isDeferred = (left[row] ?? 0) > 0;
      if (isDeferred) left[row] = (left[row] ?? 0) - 1;
      return probe(isDeferred ? { ...question, recipient: "greylisted@x.com" } : question);
    },
  );
  const opened = await openAccount(world, { name: "Ann", plan: "scale", opening: credits(100) });
  const emails = deferrals.map((_times, row) => `p${row}@x.com`);
  const { data } = await whenBatched(world, opened.liveKey, { emails });
  return { ...ctx, world, table, key: opened.liveKey, job: String(data.job_id) };
};

type Job = Awaited<ReturnType<typeof setupJob>>;

/** Follows the cursor a page at a time, and keeps what it got. */
const createReader = ({ world, key, job }: Job) => {
  const rows: number[] = [];
  let nextKey: string | undefined;
  let isAtEnd = false;
  const read = async (limit: number): Promise<void> => {
    if (isAtEnd) return;
    const query = { limit: String(limit), ...(nextKey !== undefined && { next_key: nextKey }) };
    const { statusCode, data } = await send(world, `GET /v1/jobs/${job}`, { key, query });
    expect(statusCode).toBe(200);
    const page: readonly { readonly row: number }[] = data.results ?? [];
    expect(page.length).toBeLessThanOrEqual(limit);
    rows.push(...page.map(({ row }) => row));
    nextKey = data.next_key;
    isAtEnd = nextKey === undefined;
    if (isAtEnd) expect(OPEN_STATUSES).not.toContain(data.status);
  };
  const isDone = () => isAtEnd;
  return { rows, read, isDone };
};

/** Chunks are handled in the order that is drawn; a message that comes again finds its pass done. */
const workOn = (ctx: Job) => {
  const waiting: Json[] = [];
  const collect = async (): Promise<void> => void waiting.push(...(await receiveAll(ctx)));
  const handle = async (which: number, again: boolean): Promise<void> => {
    const at = which % Math.max(1, waiting.length);
    const message = again ? waiting[at] : waiting.splice(at, 1)[0];
    if (message !== undefined) await verifyChunk.handle(ctx.world, message);
  };
  const wait = async (): Promise<void> => {
    ctx.later(31 * 60_000);
    await whenReconciled(ctx);
    await collect();
  };
  const finish = async (): Promise<void> => {
    for (let rounds = 0; rounds < 20; rounds++) {
      while (waiting.length > 0) await handle(0, false);
      await wait();
    }
  };
  return { collect, handle, wait, finish };
};

const upTo = (count: number) => Array.from({ length: count }, (_row, n) => n + 1);
const inOrder = (rows: readonly number[]) => rows.toSorted((a, b) => a - b);

test.each([
  ["in memory", (now: () => Date) => ({ ...memoryTable(now), close: (): void => undefined })],
  ["on SQLite", (now: () => Date) => createSqliteTable(":memory:", now)],
])("a reader of a running job receives every row exactly once, %s", async (_where, newTable) => {
  await fc.assert(
    fc.asyncProperty(history, async ({ steps, lastLimit, ...list }) => {
      const ctx = await setupJob(newTable, list);
      const work = workOn(ctx);
      await work.collect();
      const readers = [createReader(ctx), createReader(ctx), createReader(ctx)];
      for (const one of steps) {
        if (one.kind === "work") await work.handle(one.which, one.again);
        else if (one.kind === "wait") await work.wait();
        else await readers[one.reader]?.read(one.limit);
      }
      await work.finish();

      const all = upTo(list.deferrals.length);
      for (const reader of readers) {
        while (!reader.isDone()) await reader.read(lastLimit);
        expect(inOrder(reader.rows)).toEqual(all);
      }
      const late = createReader(ctx);
      while (!late.isDone()) await late.read(lastLimit);
      expect(late.rows, "read after its end").toEqual(all);
      ctx.table.close();
    }),
    { numRuns: 60 },
  );
});
