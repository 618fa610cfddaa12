import type { AppWorld } from "@mailproof/core/app-world";
import { createProbeByPolicy, HOST_DAILY_LIMIT } from "@mailproof/core/smtp-pool/results";
import { parseProbePolicy } from "@mailproof/mail/probe-policy";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { whenFound, whenVerified } from "../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  readJob,
  type TestContext,
  whenBatched,
  whenFiled,
} from "../things/jobs.ts";

// `deep_verify: false` costs what the price list says, alone, in a batch and in a file, and says which checks were left out.

const SHALLOW = { options: { deep_verify: false } };
const SKIPPED = ["smtp_check", "mailbox_exists", "catch_all"];

const SENTENCE =
  "The mail server was not asked, so smtp_check, mailbox_exists and catch_all are not known.";

test("an address whose mail server was not asked is unknown, costs 1 credit and lists the skipped checks", async () => {
  const ctx = await given({ balance: 10 });

  const { data } = await whenVerified(ctx.world, ctx.liveKey, {
    email: "ann@x.com",
    ...SHALLOW,
  });

  expect(data).toMatchObject({
    status: "unknown",
    reason: "not_probed",
    message: SENTENCE,
    verification: { syntax_valid: true, domain_exists: true, mx_found: true, not_known: SKIPPED },
    cached: false,
    credits_used: 1,
  });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
  await thenConsistent(ctx);
});

test("the cache returns a result without the mail server only to requests without the mail server", async () => {
  const ctx = await given({ balance: 10 });
  await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com", ...SHALLOW });

  const repeat = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com", ...SHALLOW });
  const deep = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });

  expect(repeat.data).toMatchObject({ reason: "not_probed", cached: true, credits_used: 0.5 });
  expect(repeat.data.message).toBe(SENTENCE);
  expect(deep.data).toMatchObject({ status: "valid", cached: false, credits_used: 1 });
  expect(await readCredits(ctx)).toMatchObject({ available: 7.5, spent: 2.5 });
});

test.each([
  ["no address", { status: "invalid" }, []],
  ["ann@nxdomain.com", { status: "invalid", reason: "domain_not_found" }, []],
  ["ann@disposable.com", { status: "disposable" }, SKIPPED],
  ["info@x.com", { status: "role", sub_status: "not_probed" }, SKIPPED],
  ["spam_trap@x.com", { status: "spam_trap" }, SKIPPED],
])(
  "a verification of %s skips the mail server and costs 1 credit",
  async (email, result, skipped) => {
    const ctx = await given({ balance: 10 });

    const { data } = await whenVerified(ctx.world, ctx.liveKey, { email, ...SHALLOW });

    expect(data).toMatchObject({ ...result, credits_used: 1 });
    expect(data.verification.not_known).toEqual(skipped);
    expect(data.message).toBe(skipped.length > 0 ? SENTENCE : undefined);
    expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
  },
);

test("a verification of an address literal returns unknown for free, since it asks no mail server", async () => {
  const ctx = await given({ balance: 10 });

  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@[192.0.2.1]" });

  expect(data).toMatchObject({ status: "unknown", reason: "address_literal", credits_used: 0 });
  expect(data.verification.not_known).toEqual(["domain_exists", "mx_found", ...SKIPPED]);
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0 });
});

/** DNS that takes so long: the request is over before its answer is there. */
const slowDns = (world: AppWorld, ms: number): AppWorld => ({
  ...world,
  engine: {
    ...world.engine,
    findMailHosts: async (domain) => {
      await world.sleep(ms);
      return world.engine.findMailHosts(domain);
    },
  },
});

test("a verification that continues as a job costs its credit", async () => {
  const ctx = await given({ balance: 10 });
  const world = slowDns(ctx.world, 15_000);
  const { data } = await whenVerified(world, ctx.liveKey, { email: "ann@x.com", ...SHALLOW });
  expect(data).toMatchObject({ status: "pending", credits_used: 1 });

  await whenWorked(ctx);

  const job = await readJob(ctx);
  expect(job).toMatchObject({ status: "completed" });
  expect("credits_refunded" in job).toBe(false);
  expect(job.results[0]).toMatchObject({ status: "unknown", verification: { not_known: SKIPPED } });
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
  await thenConsistent(ctx);
});

const LIST = [...createEmails(3), "info@x.com", "ann@nxdomain.com", "ann@dnsfail.com"];

const whenListSent = {
  batch: (ctx: TestContext) =>
    whenBatched(ctx.world, ctx.liveKey, { emails: LIST, ...SHALLOW }, "once"),
  file: async (ctx: TestContext) => {
    const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(LIST));
    return whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, SHALLOW), "once");
  },
} as const;

const finishJob = async (ctx: Awaited<ReturnType<typeof givenChunked>>) => {
  for (let hours = 0; hours < 3; hours++) {
    await whenWorked(ctx);
    ctx.later(60 * 60_000);
    await whenReconciled(ctx);
  }
  await whenWorked(ctx);
  return readJob(ctx);
};

test.each(["batch", "file"] as const)(
  "a %s costs 1 credit for each row, whether or not the service asked its mail server",
  async (kind) => {
    const ctx = await givenChunked();

    const accepted = await whenListSent[kind](ctx);
    expect(accepted.data).toMatchObject({ credits_used: 6 });
    const job = await finishJob(ctx);

    expect(job).toMatchObject({ status: "completed" });
    expect("credits_refunded" in job).toBe(false);
    expect(job.results.map((row: any) => row.verification.not_known)).toEqual([
      SKIPPED,
      SKIPPED,
      SKIPPED,
      SKIPPED,
      [],
      ["domain_exists", "mx_found", "mailbox_exists", "catch_all"],
    ]);
    expect(await readCredits(ctx)).toMatchObject({ available: 94, held: 0, spent: 6, refunded: 0 });
    await thenConsistent(ctx);
  },
);

/** An operator who excludes Google, and whose DNS says that every domain is Google's. */
const givenExcluded = async () => {
  const ctx = await given({ balance: 20 });
  const { engine } = ctx.world;
  const policy = parseProbePolicy("google=never");
  if (typeof policy === "string") throw new Error(policy);
  const hosts = [{ host: "aspmx.l.google.com", priority: 1, ips: ["192.0.2.1"] }];
  const excluded = {
    ...engine,
    findMailHosts: async () => ({ kind: "hosts", hosts, implicit: false, dnsQueries: [] }) as const,
    probe: createProbeByPolicy(engine.probe, policy),
  };
  return { ...ctx, world: { ...ctx.world, engine: excluded } };
};

test("an address at an excluded provider is unknown, states the reason and costs nothing", async () => {
  const ctx = await givenExcluded();

  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });

  expect(data).toMatchObject({
    status: "unknown",
    reason: "probe_policy",
    provider: "google",
    verification: { not_known: ["smtp_check", "mailbox_exists", "catch_all"] },
    credits_used: 0,
    message:
      "This service does not ask the mail servers of this provider, so smtp_check, mailbox_exists and catch_all are not known. Nothing was charged.",
  });
  expect(listMoves(ctx)).toEqual(["hold 1", "release 1"]);
  await thenConsistent(ctx);
});

test("a search at a company of an excluded provider returns unknown and costs nothing", async () => {
  const ctx = await givenExcluded();

  const { statusCode, data } = await whenFound(ctx.world, ctx.liveKey, {
    first_name: "Ann",
    last_name: "Lee",
    domain: "x.com",
  });

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ status: "unknown", credits_used: 0 });
  expect(listMoves(ctx)).toEqual(["hold 5", "release 5"]);
  await thenConsistent(ctx);
});

// A mail host that was asked enough for one day: what callers read of it, and that it costs nothing.

/** Every recipient is beyond the limit but those of good.com. */
const limitHosts = (ctx: TestContext): TestContext => {
  const { engine } = ctx.world;
  const probe: AppWorld["engine"]["probe"] = async (question) => {
    const answer = await engine.probe(question);
    if (question.domain === "good.com") return answer;
    const why = { reason: HOST_DAILY_LIMIT, rule: HOST_DAILY_LIMIT, retry: null, aboutUs: true };
    const finding = { verdict: "unknown", confidence: 1, ...why } as const;
    return { ...answer, finding, reply: null, catchAll: "not_tested" };
  };
  return { ...ctx, world: { ...ctx.world, engine: { ...engine, probe } } };
};

test("an address beyond the host limit is unknown, states the reason and costs nothing", async () => {
  const ctx = limitHosts(await given({ balance: 10 }));

  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" });

  expect(data).toMatchObject({
    status: "unknown",
    reason: "host_daily_limit",
    verification: { not_known: ["smtp_check", "mailbox_exists", "catch_all"] },
    credits_used: 0,
    message:
      "The mail server has reached its limit for today and was not asked, so smtp_check, mailbox_exists and catch_all are not known. Try again tomorrow (UTC). Nothing was charged.",
  });
  expect(listMoves(ctx)).toEqual(["hold 1", "release 1"]);
  await thenConsistent(ctx);
});

test("an address beyond the host limit is verified again instead of read from the cache", async () => {
  const before = await given({ balance: 10 });
  await whenVerified(limitHosts(before).world, before.liveKey, { email: "ann@x.com" });

  const { data } = await whenVerified(before.world, before.liveKey, { email: "ann@x.com" });

  expect(data).toMatchObject({ status: "valid", cached: false, credits_used: 1 });
});

test("batch rows beyond the host limit are unknown at once and cost nothing", async () => {
  const ctx = limitHosts(await given({ balance: 10 }));
  await whenBatched(ctx.world, ctx.liveKey, { emails: ["ann@x.com", "bo@good.com"] });

  await whenWorked(ctx);
  await whenReconciled(ctx);

  const job = await readJob(ctx);
  expect(job).toMatchObject({ status: "completed", progress: { unknown: 1, valid: 1 } });
  expect(await readCredits(ctx)).toMatchObject({ held: 0, spent: 1 });
  await thenConsistent(ctx);
});

test("a search beyond the host limit answers 503 and is refunded", async () => {
  const ctx = limitHosts(await given({ balance: 10 }));

  const response = await whenFound(ctx.world, ctx.liveKey, {
    first_name: "Ann",
    last_name: "Lee",
    domain: "example.com",
  });

  expect(response.statusCode).toBe(503);
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0, spent: 0 });
  await thenConsistent(ctx);
});
