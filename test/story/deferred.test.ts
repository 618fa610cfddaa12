import type { AppWorld } from "@mailproof/core/app-world";
import { expect, test } from "vitest";
import { whenMinutesPass, whenWorked } from "../app/drain-queues.ts";
import { listOutboxEvents, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  givenChunked,
  readJob,
  type TestContext,
  whenBatched,
  whenProcessed,
} from "../things/jobs.ts";

// Which addresses of a job are attempted again, when, and what the job says of it meanwhile.

const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-11-21T00:00:00.000Z");

type Probe = AppWorld["engine"]["probe"];
type Finding = Awaited<ReturnType<Probe>>["finding"];

/** Mail servers that say of some recipients what the test says. The others answer as a test key is answered. */
const answering = (
  ctx: TestContext,
  findings: Readonly<Record<string, Partial<Finding>>>,
): TestContext => {
  const { engine } = ctx.world;
  const probe: Probe = async (question) => {
    const answer = await engine.probe({ ...question, recipient: "blocked@x.com" });
    const [word = ""] = question.recipient.split("@");
    const finding = findings[word];
    if (!finding) return engine.probe(question);
    return { ...answer, finding: { ...answer.finding, verdict: "unknown", ...finding } };
  };
  return { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };
};

/** At which minutes a job asks about an address, until it is done. */
const listProbeMinutes = async (
  ctx: TestContext,
  start: (ctx: TestContext) => Promise<unknown>,
) => {
  const { engine } = ctx.world;
  const minutes: number[] = [];
  const note = () => minutes.push((ctx.world.now().getTime() - START_MS) / MINUTE_MS);
  const probe: Probe = (question) => {
    note();
    return engine.probe(question);
  };
  const watched = { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };
  await start(watched);
  await whenWorked(watched);
  await whenMinutesPass(watched, 60, async () => (await readJob(watched)).status === "completed");
  return minutes;
};

const asBatch =
  (emails: readonly string[], options?: object) =>
  ({ world, liveKey }: TestContext) =>
    whenBatched(world, liveKey, { emails, ...(options && { options }) });

test.each(asRows<[string, string, Partial<Finding>, readonly number[]]>`
  a full mailbox | 452 4.2.2 | ${{ verdict: "risky", reason: "mailbox_full" }} | ${[0]}
  a busy mailbox | 450 4.2.1 | ${{ verdict: "risky", reason: "mailbox_rate_limited" }} | ${[0]}
  a block of our IP address | ${"451"} | ${{ reason: "ip_blocked" }} | ${[0, 15]}
  a poor reputation of ours | 451 4.7.650 | ${{ reason: "ip_reputation" }} | ${[0, 15]}
  a refused sender | ${"450"} | ${{ reason: "sender_rejected" }} | ${[0, 15]}
  a blocked port 25 | - | ${{ reason: "no_smtp_egress" }} | ${[0]}
  greylisting | 450 4.2.0 | ${{ reason: "greylisted" }} | ${[0, 6, 36]}
  silence | - | ${{ reason: "timeout" }} | ${[0, 5]}
  a connection that times out | - | ${SILENT_CONNECTION()} | ${[0, 5]}
  a refused connection | - | ${{ reason: "connect_failed" }} | ${[0, 1, 6, 26]}
  a lost connection | - | ${{ reason: "connection_lost" }} | ${[0, 1, 6, 26]}
  a throttle | ${"421"} | ${{ reason: "rate_limited" }} | ${[0, 15]}
  a temporary server error | ${"451"} | ${{ reason: "server_error" }} | ${[0, 1, 6, 26]}
  an unknown recipient at Mimecast | ${"451"} | ${{ verdict: "risky", reason: "mailbox_not_found_transient" }} | ${[0, 1, 6, 26]}
`)(
  "a job with %s (%s, %j) asks the mail server at minutes %j",
  async (_case, _reply, finding, minutes) => {
    const ctx = answering(await givenChunked(), { bo: { retry: "later", ...finding } });

    expect(await listProbeMinutes(ctx, asBatch(["bo@x.com"]))).toEqual(minutes);
    await thenConsistent(ctx);
  },
);

test("a role address stays a role when its server greylists", async () => {
  const ctx = answering(await givenChunked(), {
    info: { reason: "greylisted", retry: "later" },
  });

  expect(await listProbeMinutes(ctx, asBatch(["info@x.com"]))).toEqual([0]);
  expect((await readJob(ctx)).results).toMatchObject([{ status: "role" }]);
});

test("a recipient unknown at every attempt ends as risky, and as valid when a later attempt finds it", async () => {
  const unknownForNow: Partial<Finding> = {
    verdict: "risky",
    reason: "mailbox_not_found_transient",
    retry: "later",
  };
  const findings: Record<string, Partial<Finding>> = { bo: unknownForNow, eve: unknownForNow };
  const ctx = answering(await givenChunked(), findings);
  await asBatch(["bo@x.com", "eve@x.com"])(ctx);
  await whenWorked(ctx);
  expect((await readJob(ctx)).deferred).toMatchObject({ count: 2 });
  findings["eve"] = { verdict: "valid", reason: "accepted", retry: null };
  await whenMinutesPass(ctx, 30);

  expect((await readJob(ctx)).results).toMatchObject([
    {
      status: "risky",
      reason: "mailbox_not_found_transient",
      verification: { mailbox_exists: false },
    },
    { reason: "catch_all_unverified" },
  ]);
  await thenConsistent(ctx);
});

test.each([
  ["a batch", asBatch(["unknown@x.com"])],
  [
    "a single verification",
    ({ world, liveKey }: TestContext) => whenVerified(world, liveKey, { email: "unknown@x.com" }),
  ],
])("the second attempt of %s waits longer for a silent server than the first", async (_, start) => {
  const ctx = await givenChunked();
  const { engine } = ctx.world;
  const patience: boolean[] = [];
  const probe: Probe = (question) => {
    patience.push(question.isPatient ?? false);
    return engine.probe(question);
  };

  await listProbeMinutes({ ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } }, start);

  expect(patience).toEqual([false, true]);
});

test("a job repeats the look-up of a domain with failing DNS after 1, 5 and 20 minutes", async () => {
  const ctx = await givenChunked();
  const minutes: number[] = [];
  const { engine } = ctx.world;
  const getHosts: typeof engine.findMailHosts = (domain) => {
    minutes.push((ctx.world.now().getTime() - START_MS) / MINUTE_MS);
    return engine.findMailHosts(domain);
  };
  const watched = {
    ...ctx,
    world: { ...ctx.world, engine: { ...engine, findMailHosts: getHosts } },
  };

  await listProbeMinutes(watched, asBatch(["ann@dnsfail.com"]));

  expect(minutes).toEqual([0, 1, 6, 26]);
  expect((await readJob(ctx)).results).toMatchObject([
    { status: "unknown", reason: "dns_inconclusive" },
  ]);
});

test("each cause follows its own schedule: greylisting after DNS trouble starts a new one", async () => {
  const ctx = await givenChunked();
  const turns: Partial<Finding>[] = [
    { reason: "connect_failed" },
    { reason: "greylisted" },
    { reason: "connect_failed" },
    { verdict: "valid", reason: "accepted", retry: null },
  ];
  const { engine } = ctx.world;
  const probe: Probe = (question) => {
    const finding = { retry: "later" as const, ...turns.shift() };
    return answering(ctx, { bo: finding }).world.engine.probe(question);
  };
  const moody = { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };

  expect(await listProbeMinutes(moody, asBatch(["bo@x.com"]))).toEqual([0, 1, 7, 12]);
});

function SILENT_CONNECTION(): Partial<Finding> {
  return { reason: "connect_failed", rule: "connect_timeout" };
}

const LIST = ["ann@x.com", "greylisted@x.com", "unknown@x.com", "bo@x.com", "ann@dnsfail.com"];

const readJobFields = async (ctx: TestContext, id = "job_1") => {
  const { deferred } = await readJob(ctx, id);
  const { data } = await send(ctx.world, "GET /v1/jobs", { key: ctx.liveKey });
  expect(data.jobs.find(({ job_id }: any) => job_id === id).deferred).toEqual(deferred);
  return deferred;
};

test.each<[string, (ctx: TestContext, emails: readonly string[]) => Promise<unknown>]>([
  ["a batch", ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails })],
  ["a file", (ctx, emails) => whenProcessed(ctx, emails)],
])(
  "the job of %s shows the count, the causes and the next attempt while addresses wait",
  async (_kind, whenSent) => {
    const ctx = await givenChunked({ rows: 2 });
    await whenSent(ctx, LIST);
    expect(await readJobFields(ctx)).toBeUndefined();

    await whenWorked(ctx);
    const seen = [await readJobFields(ctx)];
    for (const minutes of [1, 4, 1, 19, 1, 9, 1]) {
      await whenMinutesPass(ctx, minutes);
      seen.push(await readJobFields(ctx));
    }

    const at = (minutes: number) => new Date(START_MS + minutes * MINUTE_MS).toISOString();
    const dns = { dns_inconclusive: 1 };
    const waits = [
      { count: 3, by_reason: { greylisted: 1, timeout: 1, ...dns }, next_attempt_at: at(1) },
      { count: 3, by_reason: { greylisted: 1, timeout: 1, ...dns }, next_attempt_at: at(5) },
      { count: 2, by_reason: { greylisted: 1, ...dns }, next_attempt_at: at(6) },
      { count: 2, by_reason: { greylisted: 1, ...dns }, next_attempt_at: at(26) },
      { count: 2, by_reason: { greylisted: 1, ...dns }, next_attempt_at: at(26) },
      { count: 1, by_reason: { greylisted: 1 }, next_attempt_at: at(36) },
      { count: 1, by_reason: { greylisted: 1 }, next_attempt_at: at(36) },
    ];
    // The waits of a row add up to 40 minutes at most.
    const latest = { latest_end_at: at(40) };
    expect(seen).toEqual([...waits.map((wait) => ({ ...wait, ...latest })), undefined]);
    expect(await readJob(ctx)).toMatchObject({
      status: "completed",
      progress: { total: 5, processed: 5, valid: 2, unknown: 3 },
    });
    expect(ctx.table.items().filter(({ pk }) => pk.startsWith("DEFERRED#"))).toEqual([]);
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    await thenConsistent(ctx);
  },
);

test("the job counts each waiting address once when two workers verify its chunk at once", async () => {
  const ctx = await givenChunked({ rows: 5 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: LIST });

  await Promise.all([whenWorked(ctx), whenWorked(ctx), whenWorked(ctx)]);

  expect(await readJobFields(ctx)).toMatchObject({ count: 3 });
});

test.each<[number, readonly number[]]>([
  [0, [0]],
  [5, [0]],
  [6, [0, 6]],
  [35, [0, 6]],
  [36, [0, 6, 36]],
  [60, [0, 6, 36]],
])(
  "a job with max_wait_minutes %i asks about a greylisted address at minutes %j and completes",
  async (most, minutes) => {
    const ctx = await givenChunked();
    const batch = asBatch(["ann@x.com", "greylisted@x.com"], { max_wait_minutes: most });

    const minutesSpent = await listProbeMinutes(ctx, batch);

    // The first minute is asked twice: for ann, too.
    expect(minutesSpent.slice(1)).toEqual(minutes);
    expect(await readJob(ctx)).toMatchObject({
      status: "completed",
      results: [{ status: "valid" }, { status: "unknown", reason: "greylisted" }],
    });
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    await thenConsistent(ctx);
  },
);

test.each([-1, 1_441, 1.5, "5"])(
  "a batch with max_wait_minutes %j answers 400",
  async (max_wait_minutes) => {
    const { world, liveKey } = await givenChunked();
    const body = { emails: ["ann@x.com"], options: { max_wait_minutes } };

    const statuses = await whenBatched(world, liveKey, body);

    expect(statuses.statusCode).toBe(400);
    expect(statuses.error.details).toEqual([
      {
        field: "options.max_wait_minutes",
        message: "must be a whole number of minutes from 0 to 1440",
      },
    ]);
  },
);

test("a repeated batch with another max_wait_minutes answers 409, and an absent option equals the default", async () => {
  const { world, liveKey } = await givenChunked();
  const body = (options?: object) => ({ emails: ["ann@x.com"], ...(options && { options }) });
  const statuses = [];
  for (const options of [undefined, {}, { max_wait_minutes: 40 }, { max_wait_minutes: 5 }])
    statuses.push((await whenBatched(world, liveKey, body(options), "k1")).statusCode);

  expect(statuses).toEqual([202, 202, 202, 409]);
});
