import type { AppWorld } from "@mailproof/core/app-world";
import { audit } from "@mailproof/core/background/audit";
import { verifySingle } from "@mailproof/core/lists/chunk-worker";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { NoCapacityError } from "@mailproof/core/verify/engine";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { createStoppingWorld, runTurn, withSlowEngine } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import {
  listMoves,
  listOutboxEvents,
  listStoredItems,
  readCredits,
  thenConsistent,
} from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { formatRows, givenChunked, readJob, whenBatched } from "../things/jobs.ts";

const MINUTE_MS = 60_000;

/** An app whose mail servers all take this long to reply. */
const givenSlow = async (ms: number) => {
  const ctx = await given({ balance: 10 });
  return { ...ctx, world: withSlowEngine(ctx, ms) };
};

const findJob = async (world: AppWorld, key: string, id = "job_1") =>
  (await send(world, `GET /v1/jobs/${id}`, { key })).data;

test("a verification that exceeds its wait answers pending and holds its credit", async () => {
  const ctx = await given({ balance: 10 });

  const response = await whenVerified(ctx.world, ctx.liveKey, { email: " slow@x.com" });

  expect(response.statusCode).toBe(200);
  expect(response.data).toEqual({
    status: "pending",
    job_id: "job_1",
    email: "slow@x.com",
    created_at: "2026-11-21T00:00:00.000Z",
    message: expect.stringContaining("read GET /v1/jobs/job_1"),
    credits_used: 1,
  });
  expect(listMoves(ctx)).toEqual(["hold 1"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 1, spent: 0 });
  await thenConsistent(ctx);
});

/** An app without a free prober for its mail servers. */
const givenNoCapacity = async () => {
  const ctx = await given({ balance: 10 });
  const probe = () => Promise.reject(new NoCapacityError("all of them are at work"));
  return { ...ctx, busy: { ...ctx.world, engine: { ...ctx.world.engine, probe } } };
};

test("a verification answers pending at once when all probers are busy", async () => {
  const { busy, ...ctx } = await givenNoCapacity();

  const response = await whenVerified(busy, ctx.liveKey, { email: "ann@x.com" });

  expect(response.data).toMatchObject({ status: "pending", job_id: "job_1" });
  expect(listMoves(ctx)).toEqual(["hold 1"]);

  await whenWorked(ctx);
  expect(await findJob(ctx.world, ctx.liveKey)).toMatchObject({ status: "completed" });
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
});

test("a repeated verification after busy probers returns the same job without a charge or another message", async () => {
  const { busy, ...ctx } = await givenNoCapacity();
  const ask = (world: AppWorld) => whenVerified(world, ctx.liveKey, { email: "ann@x.com" }, "k1");

  const [first, again] = [await ask(busy), await ask(ctx.world)];
  await whenWorked(ctx);
  const afterwards = await ask(ctx.world);
  await whenReconciled(ctx);

  expect([first, again, afterwards].map(({ data }) => data.job_id)).toEqual(Array(3).fill("job_1"));
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
  expect(await audit(ctx.table, ctx.world.now())).toMatchObject({ ok: true });
});

test("a test key's verification does not wait for busy probers", async () => {
  const { busy, ...ctx } = await givenNoCapacity();

  const response = await whenVerified(busy, ctx.testKey, { email: "ann@x.com" });

  expect(response.data.status).not.toBe("pending");
  expect(listMoves(ctx)).toEqual([]);
});

test.each([
  ["the default of ten seconds", undefined, 10_000],
  ["the default for null", null, 10_000],
  ["the minimum", 100, 100],
  ["the minimum for a smaller number", 99, 100],
  ["the minimum for zero", 0, 100],
  ["the maximum", 25_000, 25_000],
  ["the maximum for a larger number", 25_001, 25_000],
  ["the maximum for a number beyond any timer", 2 ** 53, 25_000],
])(
  "the wait of a verification lasts for %s, to the millisecond",
  async (_case, timeout_ms, waitMs) => {
    const body = {
      email: "ann@x.com",
      ...(timeout_ms !== undefined && { options: { timeout_ms } }),
    };
    const statuses = [];
    for (const answersAfterMs of [waitMs - 1, waitMs + 1]) {
      const { world, liveKey } = await givenSlow(answersAfterMs);
      statuses.push((await whenVerified(world, liveKey, body)).data.status);
    }

    expect(statuses).toEqual(["valid", "pending"]);
  },
);

test("a pending response's job is listed and readable, and its worker completes the job with one charge", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey } = ctx;
  await whenVerified(world, liveKey, { email: "slow@x.com", options: { include_evidence: true } });
  const waiting = await findJob(world, liveKey);

  await whenWorked(ctx);

  const fields = { job_id: "job_1", kind: "single", created_at: "2026-11-21T00:00:00.000Z" };
  const nothing = { total: 1, processed: 0, valid: 0, invalid: 0, risky: 0, unknown: 0 };
  const beside = { progress: nothing, processed_emails: 0, next_key: expect.any(String) };
  expect(waiting).toEqual({ ...fields, status: "pending", ...beside });
  const done = await findJob(world, liveKey);
  expect(done).toMatchObject({
    ...fields,
    status: "completed",
    progress: { ...nothing, processed: 1, valid: 1 },
    processed_emails: 1,
    completed_at: "2026-11-21T00:00:40.000Z",
    results: [
      { row: 1, email: "slow@x.com", status: "valid", evidence: { mail_host: expect.any(String) } },
    ],
  });
  expect((await send(world, "GET /v1/jobs", { key: liveKey })).data.jobs).toMatchObject([
    { job_id: "job_1", status: "completed" },
  ]);
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
});

test("the reconciler sends a lost message again after five minutes", async () => {
  const ctx = await given({ balance: 10 });
  const refusingQueue = { ...ctx.queue, sendMany: async () => ["refused" as const] };
  const { world, liveKey, later, queue } = ctx;
  await whenVerified({ ...world, queue: refusingQueue }, liveKey, { email: "slow@x.com" });

  later(5 * MINUTE_MS - 30_000);
  await whenReconciled(ctx);
  const early = queue.pending();
  later(30_000);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(early).toBe(0);
  expect((await findJob(world, liveKey)).status).toBe("completed");
});

test("a duplicate message does not shorten the wait for a greylisting server", async () => {
  const ctx = await givenSlow(11_000);
  const { world, liveKey, later } = ctx;
  await whenVerified(world, liveKey, { email: "greylisted@x.com" });
  for (let twin = 0; twin < 3; twin++)
    await ctx.queue.sendMany("singles", [{ body: { job: "job_1", waits: 0 } }]);

  await whenWorked(ctx);
  later(5 * MINUTE_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect((await findJob(world, liveKey)).status).toBe("processing");
});

test("a verification that fails repeatedly ends as failed and is refunded once", async () => {
  const ctx = await givenSlow(11_000);
  const { world, liveKey, later } = ctx;
  await whenVerified(world, liveKey, { email: "error@x.com" });

  for (let minute = 0; minute < 60; minute++) {
    later(MINUTE_MS);
    await whenReconciled(ctx);
    await whenWorked(ctx);
  }

  expect(await findJob(world, liveKey)).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/The charge was refunded\.$/),
  });
  expect(listMoves(ctx)).toEqual(["hold 1", "release 1"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0, spent: 0 });
  expect(listOutboxEvents(ctx)).toEqual(["job.failed"]);
  expect(await audit(ctx.table, world.now())).toMatchObject({ ok: true });
});

test("a worker ignores a message about an ended or unknown job", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "slow@x.com" });
  await whenWorked(ctx);
  const before = listStoredItems(ctx);

  await ctx.queue.sendMany("singles", [
    { body: { job: "job_1", waits: 0 } },
    { body: { job: "job_9", waits: 0 } },
  ]);
  await whenWorked(ctx);

  expect(listStoredItems(ctx)).toEqual(before);
  expect(ctx.queue.pending()).toBe(0);
});

test("a verification whose process is gone continues as a listed job and is charged once", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey, later } = ctx;
  const stopped = createStoppingWorld(ctx, 1);
  void whenVerified(stopped.world, liveKey, { email: "ann@x.com", options: { timeout_ms: 1_000 } });
  await runTurn();
  expect(listMoves(ctx)).toEqual(["hold 1"]);

  later(15_999);
  await whenReconciled(ctx);
  expect((await send(world, "GET /v1/jobs", { key: liveKey })).data.jobs).toEqual([]);
  later(1);
  await whenReconciled(ctx);
  expect((await send(world, "GET /v1/jobs", { key: liveKey })).data.jobs).toHaveLength(1);
  await whenWorked(ctx);

  expect(await findJob(world, liveKey)).toMatchObject({
    status: "completed",
    progress: { valid: 1 },
  });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
});

type TestContext = Awaited<ReturnType<typeof given>>;

/** At which minutes the job is done, looked at every minute. */
const countMinutes = async (ctx: TestContext): Promise<number> => {
  for (let minute = 0; minute < 60; minute++) {
    await whenWorked(ctx);
    if ((await readJob(ctx)).status === "completed") return minute;
    ctx.later(MINUTE_MS);
    await whenReconciled(ctx);
  }
  throw new Error("the job is never done");
};

const pending = { statusCode: 200, data: { status: "pending", job_id: "job_1", credits_used: 1 } };

test.each([
  ["a host that greylists", "greylisted@x.com", "greylisted", 36],
  ["a host that is silent", "unknown@x.com", "timeout", 5],
  ["a domain whose DNS fails", "ann@dnsfail.com", "dns_inconclusive", 26],
])(
  "a verification at %s answers pending, is charged once, and ends as unknown",
  async (_case, email, reason, minutes) => {
    const ctx = await given({ balance: 10 });

    const response = await whenVerified(ctx.world, ctx.liveKey, { email }, "k1");

    expect(response).toMatchObject(pending);
    expect(await readJob(ctx)).toMatchObject({
      status: "processing",
      deferred: { count: 1, by_reason: { [reason]: 1 } },
    });
    expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 1, spent: 0 });
    expect(await countMinutes(ctx)).toBe(minutes);
    const job = await readJob(ctx);
    expect(job).toMatchObject({ status: "completed", results: [{ status: "unknown", reason }] });
    expect(job).not.toHaveProperty("deferred");
    expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
    const again = await whenVerified(ctx.world, ctx.liveKey, { email }, "k1");
    expect(again.data).toMatchObject({ job_id: "job_1", credits_used: 0, idempotent_replay: true });
    expect(await audit(ctx.table, ctx.world.now())).toMatchObject({ ok: true });
  },
);

test.each([
  ["a full mailbox", "full@x.com", "risky"],
  ["a missing mailbox", "invalid@x.com", "invalid"],
])("a verification of %s returns its final result at once", async (_case, email, status) => {
  const ctx = await given({ balance: 10 });

  const response = await whenVerified(ctx.world, ctx.liveKey, { email });

  expect(response).toMatchObject({ statusCode: 200, data: { status, credits_used: 1 } });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  expect(ctx.table.items().filter(({ pk }) => pk.startsWith("JOB#"))).toEqual([]);
});

test("the attempts follow the same schedule when the request stops waiting before the first attempt", async () => {
  const ctx = await given({ balance: 10 });
  const late = { ...ctx, world: withSlowEngine(ctx, 11_000) };

  expect(await whenVerified(late.world, ctx.liveKey, { email: "greylisted@x.com" })).toMatchObject(
    pending,
  );

  expect(await countMinutes(ctx)).toBe(36);
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  await thenConsistent(ctx);
});

test("a later attempt's verdict ends the job, and verifying the address again that day costs half the price", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "greylisted@x.com" });
  const { engine } = ctx.world;
  const probe: AppWorld["engine"]["probe"] = (question) =>
    engine.probe({ ...question, recipient: "ann@x.com" });
  const observed = { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };

  expect(await countMinutes(observed)).toBe(6);

  expect((await readJob(ctx)).results).toMatchObject([{ status: "valid" }]);
  const again = await whenVerified(ctx.world, ctx.liveKey, { email: "greylisted@x.com" });
  expect(again.data).toMatchObject({ status: "valid", cached: true, credits_used: 0.5 });
});

// A list at a mail server that greylists a recipient that it has not seen for five minutes, a random one, too:
// the second attempt of the job finds out which mailboxes exist.

const DELAY_MS = 5 * 60_000;

const greylistingServer = (
  { now }: Pick<AppWorld, "now">,
  isRemembered: (local: string) => boolean,
) => {
  const seen = new Map<string, number>();
  const replyTo = (line: string): string => {
    const [, local = ""] = /^RCPT TO:<([^@]*)/.exec(line) ?? [];
    if (local === "") return "250 ok";
    const atMs = now().getTime();
    const firstMs = seen.get(line) ?? atMs;
    seen.set(line, firstMs);
    if (atMs - firstMs < DELAY_MS) return "450 4.2.0 Greylisted, see you in five minutes";
    return isRemembered(local) ? "250 2.1.5 Ok" : "550 5.1.1 User unknown";
  };
  const connect: SmtpConnect = async () => {
    let next = "220 hi";
    return {
      send: (line) => {
        next = replyTo(line);
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  return connect;
};

test.each([
  ["knows its people", (local: string) => /^ann|^bob/.test(local), ["valid", "valid", "invalid"]],
  ["accepts everybody", () => true, ["catch_all", "catch_all", "catch_all"]],
])(
  "a batch at a server that greylists and %s returns its verdicts at the second attempt",
  async (_, isRemembered, statuses) => {
    const ctx = await givenChunked();
    const { world } = ctx;
    const hosts = [{ host: "mx.x.com", priority: 10, ips: ["192.0.2.1"] }];
    const connect = greylistingServer(world, isRemembered);
    const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
    // Each attempt is made by a process that remembers nothing.
    const inNewProcess = () => ({
      ...ctx,
      world: {
        ...world,
        engine: {
          ...world.engine,
          findMailHosts: async () => ({
            kind: "hosts" as const,
            hosts,
            implicit: false,
            dnsQueries: [],
          }),
          probe: createProbe({
            ...world,
            connect,
            catchAllCache: createCatchAllCache(ctx.table, world.now),
            smtp,
          }),
        },
      },
    });
    const emails = ["ann@x.com", "bob@x.com", "zoe@x.com"];
    await whenBatched(world, ctx.liveKey, { emails });

    await whenWorked(inNewProcess());
    expect(await readJob(ctx)).toMatchObject({ deferred: { count: 3 } });
    ctx.later(6 * MINUTE_MS + 1);
    const second = inNewProcess();
    await whenReconciled(second);
    await whenWorked(second);

    const job = await readJob(ctx);
    expect(job).toMatchObject({ status: "completed" });
    expect(formatRows(job)).toEqual(emails.map((email, n) => `${n + 1} ${email} ${statuses[n]}`));
    expect(await readCredits(ctx)).toMatchObject({ available: 97, held: 0, spent: 3 });
    await thenConsistent(ctx);
  },
);

test("the dead letter of an earlier attempt does not fail a job whose next attempt is scheduled", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "greylisted@x.com" }, "k1");

  await verifySingle.giveUp?.handle(ctx.world, { job: "job_1", pass: 0 });
  const kept = await readJob(ctx);
  await verifySingle.giveUp?.handle(ctx.world, { job: "job_1", pass: 1 });

  expect(kept.status).toBe("processing");
  expect((await readJob(ctx)).status).toBe("failed");
  expect(listMoves(ctx)).toEqual(["hold 1", "release 1"]);
});
