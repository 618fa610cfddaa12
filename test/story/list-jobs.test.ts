import type { AppWorld } from "@mailproof/core/app-world";
import { credits } from "@mailproof/core/money/credits";
import { NO_PROGRESS, toJobItem } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { givenForm } from "../things/forms.ts";
import { whenBatched } from "../things/jobs.ts";

const whenListed = (world: AppWorld, key: string, query: Readonly<Record<string, string>> = {}) =>
  send(world, "GET /v1/jobs", { key, query });

const getIds = (jobs: readonly { readonly job_id: string }[]) => jobs.map(({ job_id }) => job_id);

/** So many jobs, a while after each other; the oldest is job_1. */
const givenJobs = async (count: number) => {
  const ctx = await given({ balance: 200 });
  for (let n = 1; n <= count; n++)
    await whenVerified(ctx.world, ctx.liveKey, {
      email: `slow+${n}@x.com`,
      options: { timeout_ms: 100 },
    });
  return ctx;
};

/** Every page from the first to the last. */
const getPages = async (world: AppWorld, key: string, query: Readonly<Record<string, string>>) => {
  const pages = [];
  let offset: string | undefined;
  do {
    const { data } = await whenListed(world, key, { ...query, ...(offset && { offset }) });
    expect(data.has_more).toBe(data.next_offset !== undefined);
    pages.push(getIds(data.jobs));
    offset = data.next_offset;
  } while (offset !== undefined);
  return pages;
};

test("the list of jobs starts with the newest job and contains no results", async () => {
  const ctx = await givenJobs(2);
  await whenWorked(ctx);
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });

  const { statusCode, data } = await whenListed(ctx.world, ctx.liveKey);

  const progress = { total: 1, processed: 1, valid: 1, invalid: 0, risky: 0, unknown: 0 };
  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ total: 3, total_is_approximate: false, has_more: false });
  expect(getIds(data.jobs)).toEqual(["job_3", "job_2", "job_1"]);
  expect(data.jobs[1]).toEqual({
    job_id: "job_2",
    kind: "single",
    status: "completed",
    progress,
    processed_emails: 1,
    created_at: "2026-11-21T00:00:00.100Z",
    completed_at: expect.any(String),
  });
  expect(data.jobs[0]).toMatchObject({ status: "pending", processed_emails: 0 });
});

test("the list of jobs omits a verification that returned in time", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  await whenVerified(world, liveKey, { email: "ann@x.com" });

  expect((await whenListed(world, liveKey)).data.jobs).toEqual([]);
});

test("eight sign-ups hide no running list when the list of jobs is asked for lists", async () => {
  const { ask, world, liveKey } = await givenForm();
  const { data: list } = await whenBatched(world, liveKey, { emails: ["ann@x.com", "bob@x.com"] });
  for (let n = 1; n <= 8; n++) await ask(`visitor+${n}@example.com`);
  const read = (query: Readonly<Record<string, string>>) =>
    whenListed(world, liveKey, { limit: "5", ...query });

  const newest = await read({});
  const running = await read({ kind: "list", status: "processing" });
  const singles = await getPages(world, liveKey, { kind: "single", limit: "5" });

  expect(getIds(newest.data.jobs)).not.toContain(list.job_id);
  expect([getIds(running.data.jobs), running.data.total]).toEqual([[list.job_id], 1]);
  expect(singles.map(({ length }) => length)).toEqual([5, 3]);
  expect(singles.flat()).not.toContain(list.job_id);
});

test("a cursor of all jobs answers 400 in the list of lists", async () => {
  const { world, liveKey } = await givenJobs(2);
  const { data } = await whenListed(world, liveKey, { limit: "1" });

  const { statusCode } = await whenListed(world, liveKey, {
    kind: "list",
    offset: data.next_offset,
  });

  expect(statusCode).toBe(400);
});

test.each([
  ["single jobs", "1", [["job_5"], ["job_4"], ["job_3"], ["job_2"], ["job_1"]]],
  ["two jobs and a last page of one", "2", [["job_5", "job_4"], ["job_3", "job_2"], ["job_1"]]],
  ["one page of all", "5", [["job_5", "job_4", "job_3", "job_2", "job_1"]]],
])(
  "the pages of the list of jobs run from the newest to the oldest: %s",
  async (_case, limit, pages) => {
    const { world, liveKey } = await givenJobs(5);

    expect(await getPages(world, liveKey, { limit })).toEqual(pages);
  },
);

test("a page of jobs contains twenty jobs without a limit and at most a hundred with one", async () => {
  const { world, liveKey } = await givenJobs(101);

  const pages = [
    await whenListed(world, liveKey),
    await whenListed(world, liveKey, { limit: "100" }),
    await whenListed(world, liveKey, { limit: "1000000000000000000000" }),
  ];

  expect(pages.map(({ data }) => data.jobs.length)).toEqual([20, 100, 100]);
  expect(pages.map(({ data }) => data.total)).toEqual([101, 101, 101]);
});

test.each(["", " "])(
  "a list of jobs with a blank offset (%j) starts at the newest job",
  async (offset) => {
    const { world, liveKey } = await givenJobs(3);

    const { data } = await whenListed(world, liveKey, { limit: "2", offset });

    expect(getIds(data.jobs)).toEqual(["job_3", "job_2"]);
  },
);

test("a job that begins between two reads does not move the pages", async () => {
  const { world, liveKey } = await givenJobs(3);
  const first = await whenListed(world, liveKey, { limit: "2" });
  await whenVerified(world, liveKey, { email: "slow@x.com" });

  const next = await whenListed(world, liveKey, { limit: "2", offset: first.data.next_offset });

  expect(getIds(next.data.jobs)).toEqual(["job_1"]);
});

test("a status filter lists and counts the matching jobs, and its last page contains no next_offset", async () => {
  const ctx = await givenJobs(3);
  await whenWorked(ctx);
  for (const email of ["slow+4@x.com", "slow+5@x.com"])
    await whenVerified(ctx.world, ctx.liveKey, { email });
  const { world, liveKey } = ctx;

  expect(await getPages(world, liveKey, { status: "pending", limit: "2" })).toEqual([
    ["job_5", "job_4"],
  ]);
  expect(await getPages(world, liveKey, { status: "completed", limit: "2" })).toEqual([
    ["job_3", "job_2"],
    ["job_1"],
  ]);
  expect((await whenListed(world, liveKey, { status: "completed", limit: "1" })).data.total).toBe(
    3,
  );
});

test.each(["pending", "processing", "completed", "failed", "cancelled", "enqueue_unknown"])(
  "the list of jobs accepts the status %s",
  async (status) => {
    const { world, liveKey } = await given();

    expect((await whenListed(world, liveKey, { status })).statusCode).toBe(200);
  },
);

test.each([
  ["an unknown status", { status: "done" }, "status: must be one of pending, processing"],
  ["a status in capitals", { status: "PENDING" }, "status: must be one of"],
])(
  "a list of jobs with %s answers 400 and states the field",
  async (_case, query: Record<string, string>, words) => {
    const { world, liveKey } = await given();

    const refused = await whenListed(world, liveKey, query);

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.message).toContain(words);
  },
);

test("the list of jobs marks a count beyond the limit as a minimum, and its pages contain every job", async () => {
  const { world, account, liveKey, table } = await given();
  await givenManyJobs(table, account, 2_001);

  const all = await whenListed(world, liveKey, { limit: "1" });
  const rare = await whenListed(world, liveKey, { status: "failed" });
  const offset = rare.data.next_offset;
  const remaining = await whenListed(world, liveKey, { status: "failed", offset });

  const stopped = { total_is_approximate: true, has_more: true };
  expect(all.data).toMatchObject({ ...stopped, total: 2_000 });
  expect(rare.data).toMatchObject({ ...stopped, total: 0, jobs: [] });
  expect(remaining.data).toMatchObject({ has_more: false, jobs: [{ job_id: "job_00000" }] });
});

/** Only the oldest failed. */
const givenManyJobs = async (
  table: Awaited<ReturnType<typeof given>>["table"],
  account: string,
  count: number,
) => {
  for (let n = 0; n < count; n++) {
    const id = `job_${String(n).padStart(5, "0")}`;
    const status = n === 0 ? "failed" : "completed";
    await table.write({
      create: toJobItem({
        ...NO_PROGRESS,
        id,
        owner: account,
        account,
        mode: "live",
        kind: "batch",
        name: `List ${n}`,
        status,
        createdAt: new Date(Date.UTC(2026, 0, 1) + n).toISOString(),
        retentionSeconds: 1,
        total: 1,
        held: credits(0),
        shard: 0,
        reason: "verify_file",
      }),
    });
  }
};

test("the list of jobs shows a job with its name", async () => {
  const { world, account, liveKey, table } = await given();
  await givenManyJobs(table, account, 1);

  expect((await whenListed(world, liveKey)).data.jobs).toMatchObject([
    { name: "List 0", kind: "batch" },
  ]);
});
