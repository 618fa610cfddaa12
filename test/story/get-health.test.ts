import { storeReach } from "@mailproof/core/egress/reach";
import { FREE_BYTES } from "@mailproof/core/ports/free-space";
import { watchDns } from "@mailproof/core/runtime/dns-health";
import {
  createCircuitBreaker,
  type ObservedReply,
} from "@mailproof/core/smtp-pool/circuit-breaker/circuit-breaker";
import type { Dns, DnsOutcome } from "@mailproof/mail/dns/dns";
import { DIRECT_EXIT } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { send } from "../app/send.ts";

const never = () => new Promise<never>(() => {});
const broken = () => Promise.reject(new Error("the disk is gone"));
const chunks = { name: "chunks", visibilitySeconds: 1, receivesMax: 1, concurrency: 10 };

test("GET /health answers 200 and healthy without a key and without an envelope", async () => {
  const { world } = givenWorld();

  expect(await send(world, "GET /health")).toMatchObject({
    status: "healthy",
    timestamp: "2026-11-21T00:00:00.000Z",
    service: "mailproof",
    version: "0.0.0-test",
    checks: { table: "ok", queue: "ok", blobs: "ok", dns: "ok", mail_providers: "ok" },
  });
});

test("GET /health answers 200 and degraded while a mail provider refuses our address", async () => {
  const { world, later } = givenWorld();
  const breaker = createCircuitBreaker(world);
  const refusal: ObservedReply["refusal"] = {
    host: "mx01.mail.icloud.com",
    ip: "192.0.2.1",
    stage: "greeting",
    reply: { code: 554, enhanced: "5.7.0", text: "Blocked" },
  };
  const admitted = await breaker.admit({ ...SUBJECT, refusedExits: [] }, DIRECT_EXIT);
  if (admitted.kind !== "admitted") throw new Error(admitted.kind);
  const replies = Array<ObservedReply>(3).fill({ about: null, refusal });
  await breaker.record(SUBJECT.providerKey, admitted, replies);
  await storeReach(world, "open");

  const answer = await send(world, "GET /health");
  expect(answer).toMatchObject({
    status: "degraded",
    reach: { state: "refused_by", refused_by: ["icloud"] },
    checks: { mail_providers: "blocked" },
  });
  expect(answer.statusCode).toBe(200);
  later(3_600_000);
  expect(await send(world, "GET /health")).toMatchObject({
    reach: { state: "open", refused_by: [] },
    checks: { mail_providers: "ok" },
  });
});
const SUBJECT = { providerKey: "icloud", domain: "icloud.com", account: "acc_1" };

test.each([
  [FREE_BYTES.forUploads, "healthy", "ok"],
  [FREE_BYTES.forUploads - 1, "degraded", "low"],
  [FREE_BYTES.forWork - 1, "degraded", "full"],
])("GET /health answers 200 with %d free bytes: %s, disk %s", async (free, status, disk) => {
  const { world } = givenWorld();

  const answer = await send({ ...world, freeBytes: () => free }, "GET /health");

  expect(answer).toMatchObject({ statusCode: 200, status, checks: { disk } });
});

test("GET /health answers 200 and degraded while dead letters wait", async () => {
  const { world, queue, later } = givenWorld();
  await queue.sendMany("chunks", [{ body: 1 }]);
  await queue.receive(chunks, { waitMs: 0 });
  later(1_000);
  await queue.receive(chunks, { waitMs: 0 });

  const answer = await send(world, "GET /health");

  expect(answer).toMatchObject({ status: "degraded", checks: { queue: "dead_letters_waiting" } });
  expect(answer.statusCode).toBe(200);
});

test.each([
  ["the table fails", { table: { get: broken } }, { table: "failed" }],
  ["the queue fails", { queue: { countDeadLetters: broken } }, { queue: "failed" }],
  ["the store of files fails", { blobs: { head: broken } }, { blobs: "failed" }],
  ["the table never answers", { table: { get: never } }, { table: "failed" }],
  ["the queue never answers", { queue: { countDeadLetters: never } }, { queue: "failed" }],
])("GET /health answers 503 and degraded in the same shape when %s", async (_, fault, checks) => {
  const { world, logged } = givenWorld();
  const faulty = {
    ...world,
    table: { ...world.table, ...("table" in fault && fault.table) },
    queue: { ...world.queue, ...("queue" in fault && fault.queue) },
    blobs: { ...world.blobs, ...("blobs" in fault && fault.blobs) },
  };

  const answer = await send(faulty, "GET /health");

  expect(answer).toMatchObject({ status: "degraded", service: "mailproof", checks });
  expect(answer.statusCode).toBe(503);
  expect(answer).not.toHaveProperty("error");
  expect(logged.map(({ event }) => event)).toEqual(["probe_failed"]);
});

test("GET /health ignores a query parameter, which a monitor may add against caches", async () => {
  const { world } = givenWorld();

  expect(await send(world, "GET /health", { query: { x: "1" } })).toMatchObject({
    statusCode: 200,
    status: "healthy",
  });
});

const SECOND = 1_000;

/** An app whose DNS questions all end as `kind`, until that is changed. */
const givenDns = () => {
  const ctx = givenWorld();
  const state: { kind: "timeout" | "servfail" | "nxdomain" } = { kind: "timeout" };
  const resolver = (async () => ({ kind: state.kind }) as DnsOutcome<never>) as Dns;
  const { table } = ctx.world;
  let written: Promise<unknown> = Promise.resolve();
  const write: typeof table.write = (one) => {
    const writing = table.write(one);
    written = writing;
    return writing;
  };
  const dns = watchDns(resolver, { ...ctx.world, table: { ...table, write } });
  let probes = 0;
  /** One question a second, each for another name unless one is given. */
  const whenQueried = async (seconds: number, name?: string) => {
    for (let second = 0; second < seconds; second++) {
      await dns("MX", name ?? `domain${probes++}.example`);
      // A question does not wait for what it writes, and ten minutes of this clock are shorter than one write.
      await written;
      ctx.later(SECOND);
    }
  };
  const health = async () => {
    const { statusCode, status, checks } = (await send(ctx.world, "GET /health")) as any;
    return { statusCode, status, dns: checks.dns };
  };
  return { ...ctx, state, whenAsked: whenQueried, health };
};

const WELL = { statusCode: 200, status: "healthy", dns: "ok" };
const DEAD = { statusCode: 200, status: "degraded", dns: "failed" };

test.each(["timeout", "servfail"] as const)(
  "GET /health answers 200 and degraded while DNS has failed for a minute (%s)",
  async (kind) => {
    const { state, whenAsked: whenQueried, health } = givenDns();
    state.kind = kind;
    await whenQueried(60);
    const before = await health();
    await whenQueried(2);
    const dead = await health();
    await whenQueried(600);
    const tenMinutesLater = await health();
    // That a domain does not exist is an answer.
    state.kind = "nxdomain";
    await whenQueried(1);

    expect([before, dead, tenMinutesLater, await health()]).toEqual([WELL, DEAD, DEAD, WELL]);
  },
);

test("GET /health reports DNS as ok when the name servers of one domain are silent", async () => {
  const { whenAsked: whenQueried, health } = givenDns();

  await whenQueried(300, "silent.example");

  expect(await health()).toEqual(WELL);
});

test("GET /health reports DNS as ok when its failures are far apart", async () => {
  const { whenAsked: whenQueried, health, later } = givenDns();

  for (let hour = 0; hour < 5; hour++) {
    await whenQueried(2);
    later(3_600 * SECOND);
  }
  await whenQueried(2);

  expect(await health()).toEqual(WELL);
});

test("GET /health reports DNS as ok again after two minutes without a query", async () => {
  const { whenAsked: whenQueried, health, later } = givenDns();
  await whenQueried(65);
  const dead = await health();
  later(125 * SECOND);

  expect([dead, await health()]).toEqual([DEAD, WELL]);
});

test("GET /health reports DNS as ok while the table is down", async () => {
  const { world, later } = givenWorld();
  const table = { ...world.table, write: broken };
  const resolver = (async () => ({ kind: "timeout" }) as DnsOutcome<never>) as Dns;
  const dns = watchDns(resolver, { ...world, table });

  for (let second = 0; second < 70; second++) {
    expect(await dns("MX", `domain${second}.example`)).toEqual({ kind: "timeout" });
    later(SECOND);
  }
});
