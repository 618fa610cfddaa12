import type { AppWorld } from "@mailproof/core/app-world";
import { createProbeByPolicy, HOST_DAILY_LIMIT } from "@mailproof/core/smtp-pool/results";
import { parseProbePolicy } from "@mailproof/mail/probe-policy";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { given } from "../app/given.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { whenFound, whenVerified } from "../app/send.ts";
import { readJob, type TestContext, whenBatched } from "../things/jobs.ts";

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
