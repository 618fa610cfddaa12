import { createLocalSlots } from "@mailproof/core/smtp-pool/slots/local-slots";
import { createEngine } from "@mailproof/core/verify/engine";
import type { DnsOutcome } from "@mailproof/mail/dns/dns";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { describe, expect, test } from "vitest";
import { whenMinutesPass, whenWorked } from "../app/drain-queues.ts";
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
} from "../things/jobs.ts";

// Lists behind a mail provider that turns us away for now, with the whole engine, in virtual time.

const MINUTE_MS = 60_000;
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

const LIST = Array.from({ length: 300 }, (_, n) =>
  n % 2 === 0 ? `ann.lee${n}@firm.example` : `unknown.lee${n}@firm.example`,
);

const sendList = async (ctx: TestContext, kind: "batch" | "file", options: object) => {
  if (kind === "batch") await whenBatched(ctx.world, ctx.liveKey, { emails: LIST, options });
  else {
    const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(LIST));
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
  const emails = [...LIST.slice(0, 10), "no address at all", "ann@mailinator.com"];
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
