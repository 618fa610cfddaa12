import type { AppWorld } from "@mailproof/core/app-world";
import { audit } from "@mailproof/core/background/audit";
import { verifySingle } from "@mailproof/core/lists/chunk-worker";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withSlowEngine } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listMoves, listOutboxEvents, readCredits, thenConsistent } from "../app/ledger.ts";
import { whenVerified } from "../app/send.ts";
import { formatRows, givenChunked, readJob, whenBatched } from "../things/jobs.ts";

// POST /v1/verify of what may become known: it goes on as a job, for the one price, whatever the cause is.

const MINUTE_MS = 60_000;

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
