import type { AppWorld } from "@mailproof/core/app-world";
import { addMs } from "@mailproof/core/lib/time";
import { verifyChunk, verifySingle } from "@mailproof/core/lists/chunk-worker";
import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import type { DnsOutcome } from "@mailproof/mail/dns/dns";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { describe, expect, test } from "vitest";
import { whenMinutesPass, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { readCredits, thenConsistent } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import {
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenBatched,
  whenFiled,
  whenProcessed,
} from "../things/jobs.ts";

// All connections that a mail provider takes are in use: its addresses wait for one, and that is not an attempt.

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

type Probe = AppWorld["engine"]["probe"];
type Question = Parameters<Probe>[0];

const TICKET = { queue: "google all", position: 1_000, draw: 7 };

/** A provider without a slot for anyone until `open` is set, which names the time after which to come back. */
const withBusyProvider = (ctx: TestContext, backMs = 40 * SECOND_MS) => {
  const { engine } = ctx.world;
  const provider = { open: false, backMs };
  const questions: Question[] = [];
  const probe: Probe = async (question) => {
    questions.push(question);
    if (provider.open) return engine.probe(question);
    const answer = await engine.probe({ ...question, recipient: "unknown@x.com" });
    const at = addMs(ctx.world.now(), provider.backMs).toISOString();
    return { ...answer, recipient: question.recipient, comeBack: { at, ticket: TICKET } };
  };
  const world = { ...ctx.world, engine: { ...engine, probe } };
  return { ...ctx, world, provider, questions };
};

const whenTimePasses = async (ctx: TestContext, ms: number): Promise<void> => {
  ctx.later(ms);
  await whenWorked(ctx);
};

const LIST = ["ann@x.com", "bob@x.com"];

test.each<[string, (ctx: TestContext) => Promise<unknown>]>([
  ["a batch", ({ world, liveKey }) => whenBatched(world, liveKey, { emails: LIST })],
  ["a file", (ctx) => whenProcessed(ctx, LIST)],
])(
  "an address in %s waits longer, is shown as waiting, and is charged once",
  async (_kind, whenSent) => {
    const ctx = withBusyProvider(await givenChunked());
    await whenSent(ctx);
    await whenWorked(ctx);

    expect(await readJob(ctx)).toMatchObject({
      status: "processing",
      progress: { processed: 0 },
      deferred: {
        count: 2,
        by_reason: { waiting_for_provider: 2 },
        next_attempt_at: "2026-11-21T00:00:40.000Z",
      },
    });
    ctx.provider.open = true;
    await whenTimePasses(ctx, 40 * SECOND_MS);

    const job = await readJob(ctx);
    expect(job).toMatchObject({ status: "completed", progress: { processed: 2, unknown: 0 } });
    expect(job.deferred).toBeUndefined();
    expect(ctx.questions.slice(-2).map(({ ticket }) => ticket)).toEqual([TICKET, TICKET]);
    expect(await readCredits(ctx)).toMatchObject({ available: 98, held: 0, spent: 2 });
    await thenConsistent(ctx);
  },
);

test("an address waits longer than max_wait_minutes, which counts only attempts", async () => {
  const ctx = withBusyProvider(await givenChunked());
  await whenBatched(ctx.world, ctx.liveKey, {
    emails: ["greylisted@x.com"],
    options: { max_wait_minutes: 6 },
  });
  await whenWorked(ctx);
  for (let times = 0; times < 100; times++) await whenTimePasses(ctx, MINUTE_MS);
  expect(await readJob(ctx)).toMatchObject({ deferred: { count: 1 } });

  // Now the mail server greylists: its schedule begins here.
  ctx.provider.open = true;
  const before = ctx.questions.length;
  await whenTimePasses(ctx, MINUTE_MS);
  expect((await readJob(ctx)).deferred).toMatchObject({ by_reason: { greylisted: 1 } });
  ctx.later(6 * MINUTE_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({ results: [{ reason: "greylisted" }] });
  expect(ctx.questions.length - before).toBe(2);
  await thenConsistent(ctx);
});

test("an address gets no final result from a list, such as that of role addresses, while it waits", async () => {
  const ctx = withBusyProvider(await givenChunked());
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["info@x.com"] });
  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({
    progress: { processed: 0 },
    deferred: { by_reason: { waiting_for_provider: 1 } },
  });
});

test("the scheduled work continues with an address whose message was lost", async () => {
  const ctx = withBusyProvider(await givenChunked());
  await whenBatched(ctx.world, ctx.liveKey, { emails: LIST });
  await whenWorked(ctx);
  ctx.later(MINUTE_MS);
  for (const { receipt } of await ctx.queue.receive(verifyChunk.queue, { waitMs: 0 }))
    await ctx.queue.acknowledge(receipt);
  ctx.provider.open = true;

  ctx.later(5 * MINUTE_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { processed: 2 } });
});

test("the service resumes an address before its wait exceeds the longest message delay", async () => {
  const ctx = withBusyProvider(await givenChunked(), 3 * 3_600_000);
  await whenBatched(ctx.world, ctx.liveKey, { emails: LIST });
  await whenWorked(ctx);
  ctx.provider.open = true;

  await whenTimePasses(ctx, 15 * MINUTE_MS);

  expect(await readJob(ctx)).toMatchObject({ status: "completed" });
});

const EXIT = "192.0.2.8:1080";

/** The session left by the exit that the question names, or else by EXIT; a slot is missing the second time. */
const withExits = (ctx: TestContext) => {
  const { engine } = ctx.world;
  const asked: (string | undefined)[] = [];
  const probe: Probe = async (question) => {
    asked.push(question.exit);
    const answer = { ...(await engine.probe(question)), exit: question.exit ?? EXIT };
    const at = addMs(ctx.world.now(), SECOND_MS).toISOString();
    return asked.length === 2 ? { ...answer, comeBack: { at, ticket: TICKET } } : answer;
  };
  return { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } }, asked };
};

test.each<[string, (ctx: TestContext) => Promise<unknown>]>([
  ["a batch", (ctx) => whenBatched(ctx.world, ctx.liveKey, { emails: ["greylisted@x.com"] })],
  ["a call", (ctx) => whenVerified(ctx.world, ctx.liveKey, { email: "greylisted@x.com" })],
])(
  "an address in %s uses the same exit again, also after a wait for a slot",
  async (_, whenSent) => {
    const ctx = withExits(await givenChunked());
    await whenSent(ctx);
    await whenWorked(ctx);
    for (const ms of [7 * MINUTE_MS, 2 * SECOND_MS]) {
      ctx.later(ms);
      await whenReconciled(ctx);
      await whenWorked(ctx);
    }

    expect(ctx.asked).toEqual([undefined, EXIT, EXIT]);
  },
);

const setup = async () => withBusyProvider(await given({ balance: 10 }));

test("a verification is pending, and its job returns the right result later for one charge", async () => {
  const ctx = await setup();
  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  expect(data).toMatchObject({ status: "pending" });
  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "processing",
    deferred: { count: 1, by_reason: { waiting_for_provider: 1 } },
  });
  await whenTimePasses(ctx, 40 * SECOND_MS);
  expect(await readJob(ctx, data.job_id)).toMatchObject({ status: "processing" });
  ctx.provider.open = true;
  await whenTimePasses(ctx, 40 * SECOND_MS);

  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "completed",
    results: [{ email: "ann@x.com", status: "valid" }],
  });
  expect(ctx.questions.at(-1)?.ticket).toEqual(TICKET);
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
  await thenConsistent(ctx);
});

test("the scheduled work continues with a verification whose message was lost", async () => {
  const ctx = await setup();
  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });
  ctx.later(MINUTE_MS);
  for (const { receipt } of await ctx.queue.receive(verifySingle.queue, { waitMs: 0 }))
    await ctx.queue.acknowledge(receipt);
  ctx.provider.open = true;

  ctx.later(6 * MINUTE_MS);
  await whenReconciled(ctx);
  await whenWorked(ctx);

  expect(await readJob(ctx, data.job_id)).toMatchObject({ status: "completed" });
});

test("a search without a free connection is refunded and may be repeated", async () => {
  const ctx = withBusyProvider(await given({ balance: 10 }));
  const body = { first_name: "Ann", last_name: "Smith", domain: "x.com" };
  const { statusCode, error } = await send(ctx.world, "POST /v1/find", { key: ctx.liveKey, body });

  expect(statusCode).toBe(503);
  expect(error.message).toContain("connections to the domain's mail provider are in use");
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0 });
});

const RANDOM_RECIPIENT = /<[a-z][a-z0-9]{19}@/;

const THROTTLES = {
  gmail: {
    host: "aspmx.l.google.com",
    at: "RCPT",
    reply:
      "421-4.7.28 Gmail has detected an unusual rate of mail originating from your IP address.\r\n421 4.7.28 It has been temporarily rate limited. - gsmtp",
  },
  yahoo: {
    host: "mta5.am0.yahoodns.net",
    at: "",
    reply:
      "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints",
  },
  microsoft: {
    host: "x.mail.protection.outlook.com",
    at: "MAIL",
    reply: "451 4.7.500 Server busy. Please try again later from [192.0.2.1].",
  },
  "without a PTR": {
    host: "mx.example.com",
    at: "RCPT",
    reply: "450 4.7.25 Client host rejected: cannot find your reverse hostname, [192.0.2.1]",
  },
} as const;

type Throttle = (typeof THROTTLES)[keyof typeof THROTTLES];

/** All domains have this mail host, which throttles us for so many minutes. Of two people, one exists. */
const givenThrottle = async ({ host, at, reply }: Throttle, minutes: number) => {
  const ctx = await givenChunked({ balance: 1_000, rows: 100 });
  const { world } = ctx;
  const startMs = world.now().getTime();
  let sessions = 0;
  const replyTo = (line: string): string => {
    const isOver = world.now().getTime() - startMs >= minutes * MINUTE_MS;
    if (!isOver && (at === "" ? line === "" : line.startsWith(at))) return reply;
    if (line === "") return "220 mx ESMTP";
    const isUnknown = line.startsWith("RCPT") && line.includes("<unknown");
    return isUnknown || RANDOM_RECIPIENT.test(line) ? "550 5.1.1 User unknown" : "250 ok";
  };
  const connect: SmtpConnect = async () => {
    let next = replyTo("");
    if (world.now().getTime() - startMs < minutes * MINUTE_MS) sessions++;
    return {
      send: (line) => {
        next = replyTo(line);
      },
      receive: async () => {
        await world.sleep(50);
        return createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed";
      },
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  const dns = async (type: string): Promise<DnsOutcome<any>> => {
    if (type === "MX") return { kind: "ok", records: [{ priority: 10, exchange: host }] };
    return type === "A" ? { kind: "ok", records: ["9.9.9.9"] } : { kind: "nodata" };
  };
  const engine = createEngine({
    ...world,
    dns: dns as never,
    connect,
    lists: world.engine.lists,
    allowed: [],
    smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
    slots: createLocalSlots(world),
  });
  return { ...ctx, world: { ...world, engine }, sessions: () => sessions };
};

const whenOpenFor = (ctx: TestContext, minutes: number): Promise<void> =>
  whenMinutesPass(ctx, minutes, async () => (await readJob(ctx)).status === "completed");

const LONG_LIST = Array.from({ length: 300 }, (_, n) =>
  n % 2 === 0 ? `ann.lee${n}@firm.example` : `unknown.lee${n}@firm.example`,
);

const sendList = async (ctx: TestContext, kind: "batch" | "file", options: object) => {
  if (kind === "batch") await whenBatched(ctx.world, ctx.liveKey, { emails: LONG_LIST, options });
  else {
    const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(LONG_LIST));
    await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, { options }));
  }
  await whenWorked(ctx);
};

/** Of 300 rows that all wait. */
const findWaitMinutes = async (ctx: TestContext): Promise<number> => {
  const job = await readJob(ctx);
  expect(job).toMatchObject({ status: "processing", deferred: { count: 300 } });
  return (Date.parse(job.deferred.next_attempt_at) - ctx.world.now().getTime()) / MINUTE_MS;
};

const listRefunds = async ({ world, liveKey }: TestContext) => {
  const { data } = await send(world, "GET /v1/account/ledger", { key: liveKey });
  return data.entries
    .filter(({ type }: { type: string }) => type === "refund")
    .map(({ credits, reason }: { credits: number; reason: string }) => ({ credits, reason }));
};

describe.each(Object.entries(THROTTLES))(
  "a list of 300 rows at a provider's throttle: %s",
  (_, throttle) => {
    // A file waits as a batch does, whatever the throttle is.
    test.each(throttle === THROTTLES.gmail ? (["batch", "file"] as const) : (["batch"] as const))(
      "the service refunds a whole %s after attempts at 15, 60 and 240 minutes when the throttle lasts for days",
      async (kind) => {
        const ctx = await givenThrottle(throttle, 10_000);
        await sendList(ctx, kind, { max_wait_minutes: 1_440 });

        // The first two backoffs of the provider are no attempts.
        expect(await findWaitMinutes(ctx)).toBeLessThanOrEqual(1);
        await whenOpenFor(ctx, 4);
        const waitMinutes = await findWaitMinutes(ctx);
        expect(waitMinutes).toBeGreaterThan(10);
        expect(waitMinutes).toBeLessThanOrEqual(15);
        await whenOpenFor(ctx, 300);
        expect(await readJob(ctx)).toMatchObject({ status: "processing" });
        await whenOpenFor(ctx, 60);

        expect(await readJob(ctx)).toMatchObject({
          status: "completed",
          progress: { processed: 300, unknown: 300 },
        });
        expect(await readCredits(ctx)).toMatchObject({ available: 1_000, held: 0, spent: 0 });
        expect(await listRefunds(ctx)).toEqual([{ credits: 300, reason: "not_reached" }]);
        expect(ctx.sessions()).toBeLessThanOrEqual(20);
        await thenConsistent(ctx);
      },
    );

    test("the service verifies and charges every row when the throttle ends after an hour", async () => {
      const ctx = await givenThrottle(throttle, 60);
      await sendList(ctx, "batch", { max_wait_minutes: 1_440 });
      await whenOpenFor(ctx, 360);

      expect(await readJob(ctx)).toMatchObject({
        status: "completed",
        progress: { processed: 300, valid: 150, invalid: 150, unknown: 0 },
      });
      expect(await readCredits(ctx)).toMatchObject({ available: 700, held: 0, spent: 300 });
      expect(ctx.sessions()).toBeLessThanOrEqual(20);
      await thenConsistent(ctx);
    });
  },
);

test("a job charges for verified rows when its other rows stay unverified", async () => {
  const ctx = await givenThrottle(THROTTLES.gmail, 10_000);
  const emails = [...LONG_LIST.slice(0, 10), "no address at all", "ann@mailinator.com"];
  await whenBatched(ctx.world, ctx.liveKey, { emails, options: { max_wait_minutes: 0 } });
  await whenWorked(ctx);

  expect(await readJob(ctx)).toMatchObject({ status: "completed", progress: { unknown: 10 } });
  expect(await readCredits(ctx)).toMatchObject({ available: 998, spent: 2 });
  await thenConsistent(ctx);
});

test("a single verification answers pending with its job and releases its credit when the throttle lasts", async () => {
  const ctx = await givenThrottle(THROTTLES.gmail, 10_000);

  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann.lee@firm.example" });
  expect(data).toMatchObject({ status: "pending", credits_used: 1 });
  const job = await readJob(ctx, data.job_id);
  expect(job.deferred).toMatchObject({ count: 1, by_reason: { rate_limited: 1 } });
  await whenMinutesPass(ctx, 20);

  expect(await readJob(ctx, data.job_id)).toMatchObject({
    status: "completed",
    results: [{ status: "unknown", reason: "rate_limited" }],
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 1_000, held: 0, spent: 0 });
  await thenConsistent(ctx);
});
