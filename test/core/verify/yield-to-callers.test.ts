import type { AppWorld } from "@mailproof/core/app-world";
import { verifyChunk } from "@mailproof/core/lists/chunk-worker";
import { createYieldingConnect } from "@mailproof/core/smtp-pool/connect";
import type { Requester, YieldToCallers } from "@mailproof/core/smtp-pool/fairness";
import { equalizeTiming } from "@mailproof/core/verify/mail-host-lookup";
import { createSandboxEngine, selectEngine } from "@mailproof/core/verify/sandbox";
import { verify } from "@mailproof/core/verify/verify";
import type { Dns } from "@mailproof/mail/dns/dns";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { given, givenWorld, START } from "../../app/given.ts";
import { createVirtualTime } from "../../app/virtual-time.ts";
import { whenExported } from "../../things/downloads.ts";
import { createRows, givenJobOf, verifyEmail } from "../../things/export-jobs.ts";
import { createEmails, givenChunked, whenBatched, whenProcessed } from "../../things/jobs.ts";
import { receiveAll } from "../lists/working-chunks.ts";

// Where the work for lists can wait for callers (docs/design/fairness.md).

const LIST: Requester = { account: "acc_1", priority: "list" };
const CALLER: Requester = { account: "acc_2", priority: "caller" };
const OPTIONS = { deepVerify: true, includeAi: true, includeEvidence: false, requester: LIST };

/** Steps that wait until the test lets the next one begin. */
const givenSteps = () => {
  const waiting: (() => void)[] = [];
  const yieldToCallers: YieldToCallers = () => new Promise((begin) => waiting.push(begin));
  const next = async (): Promise<void> => {
    waiting.shift()?.();
    await new Promise((done) => setImmediate(done));
  };
  return { waiting, yieldToCallers, next };
};

test("a row waits for callers before its look-up and before its verdict", async () => {
  const { world } = givenWorld();
  const { waiting, yieldToCallers, next } = givenSteps();
  const lookedUp: string[] = [];
  const engine = {
    ...world.engine,
    yieldToCallers,
    findMailHosts: (domain: string) => {
      lookedUp.push(domain);
      return world.engine.findMailHosts(domain);
    },
  };
  let isJudged = false;
  void verify(engine, "ann@x.com", OPTIONS).then(() => (isJudged = true));
  expect([lookedUp, waiting.length]).toEqual([[], 1]);

  await next();
  expect([lookedUp, waiting.length, isJudged]).toEqual([["x.com"], 1, false]);

  await next();
  expect(isJudged).toBe(true);
});

const givenConnect = () => {
  const done: string[] = [];
  const connect: SmtpConnect = async () => {
    done.push("connect");
    return {
      send: () => undefined,
      receive: async () => {
        done.push("reply");
        return { code: 250, enhanced: null, text: "ok" };
      },
      startTls: async () => null,
      close: async () => undefined,
    };
  };
  const yieldToCallers: YieldToCallers = async (requester) =>
    void done.push(`step of ${requester?.account}`);
  return { done, ports: { connect, yieldToCallers } };
};

const TARGET = { ip: "192.0.2.1", port: 25, host: "mx.x.com" };
const CONNECTING = { timeoutMs: 1_000, affinityKey: "mx.x.com" };

test("a list's session waits for callers before it connects and after each reply", async () => {
  const { done, ports } = givenConnect();

  const wire = await createYieldingConnect(ports, [{ requester: LIST }])(TARGET, CONNECTING);
  if (typeof wire === "string") throw new Error(wire);
  const reply = await wire.receive(1_000);

  expect(reply).toMatchObject({ code: 250 });
  const step = "step of acc_1";
  expect(done).toEqual([step, "connect", "reply", step]);
});

test("a session that a caller shares with a list does not wait", async () => {
  const { done, ports } = givenConnect();

  const batch = [{ requester: LIST }, { requester: CALLER }];
  const wire = await createYieldingConnect(ports, batch)(TARGET, CONNECTING);
  if (typeof wire === "string") throw new Error(wire);
  await wire.receive(1_000);

  expect(done).toEqual(["connect", "reply"]);
});

test("lists of test keys wait like lists of live keys", () => {
  const { world } = givenWorld();
  const { yieldToCallers } = givenSteps();
  const engine = { ...createSandboxEngine(world), yieldToCallers };

  expect(selectEngine({ ...world, engine }, "test").yieldToCallers).toBe(yieldToCallers);
});

/** Every step begins at once, and is noted. */
const noteSteps = (world: AppWorld) => {
  const stepsOf: string[] = [];
  const yieldToCallers: YieldToCallers = (requester) => {
    stepsOf.push(`${requester?.priority} of ${requester?.account}`);
    return undefined;
  };
  const callers = { enter: () => () => undefined, yieldToCallers };
  const noting = { ...world, callers, engine: { ...world.engine, yieldToCallers } };
  return { stepsOf, world: noting };
};

test("a page of results counts as one piece of work of its job's account", async () => {
  const rows = 250;
  const ctx = await givenChunked({ rows, balance: 1_000 });
  const { world, account } = ctx;
  await whenBatched(world, ctx.liveKey, { emails: createEmails(rows) });
  const [message = null] = await receiveAll(ctx);
  const { stepsOf, world: noting } = noteSteps(world);

  await verifyChunk.handle(noting, message);

  const [pages, before, after, evidence] = [3, rows, rows, rows / 25];
  expect(stepsOf).toHaveLength(before + after + pages + evidence);
  expect(new Set(stepsOf)).toEqual(new Set([`list of ${account}`]));
});

test("the scheduler counts 500 rows read from a list as one step of the list's account", async () => {
  const ctx = await given({ balance: 10_000 });
  const { stepsOf, world } = noteSteps(ctx.world);

  await whenProcessed({ ...ctx, world }, createEmails(1_600));

  expect(stepsOf).toEqual(Array(3).fill(`list of ${ctx.account}`));
});

test("each chunk read and each 100 rows written for an export count as a piece of work of its job's account", async () => {
  const ctx = await given();
  const rows = createRows(await verifyEmail(ctx.world, "ann@x.com"), 204);
  await givenJobOf(ctx, [rows.slice(0, 203), rows.slice(203)]);
  const { stepsOf, world } = noteSteps(ctx.world);

  await whenExported(world, ctx.liveKey);

  const [reading, writing] = [2, 3 + 1];
  expect(stepsOf).toEqual(Array(reading + writing).fill(`list of ${ctx.account}`));
});

const DAY_MS = 24 * 3_600_000;

/** The first answer takes 100 ms, and each after it 1 ms. */
const setup = (kind: "ok" | "servfail" = "ok") => {
  const { now, later, jump, sleep } = createVirtualTime(START);
  const answered = new Map<string, Promise<void>>();
  const dns: Dns = async (_, name) => {
    const before = answered.get(name);
    const first = before ?? sleep(100);
    answered.set(name, first);
    await first;
    if (before) await sleep(1);
    return (kind === "ok" ? { kind, records: [] } : { kind }) as never;
  };
  const dnsOf = equalizeTiming({ dns, now, sleep });
  const msFor = async (account: string, name = "example.com") => {
    const startedMs = now().getTime();
    await dnsOf(account)("A", name);
    return now().getTime() - startedMs;
  };
  return { msFor, later, jump };
};

test("an account's first look-up takes as long as the first look-up of all accounts", async () => {
  const { msFor } = setup();

  expect(await msFor("one")).toBe(100);
  expect(await msFor("other")).toBe(100);
  expect(await msFor("third", "EXAMPLE.com")).toBe(100);
});

test("an account's own earlier look-up returns as fast as the cache", async () => {
  const { msFor } = setup();
  await msFor("one");
  await msFor("other");

  expect(await msFor("one")).toBe(1);
  expect(await msFor("other")).toBe(1);
});

test("an account that asks during another account's look-up waits as long", async () => {
  const { msFor, later } = setup();

  const one = msFor("one");
  later(60);
  const other = msFor("other");

  expect(await one).toBe(100);
  expect(await other).toBe(100);
});

test("an account's first look-up returns as fast as the cache a day after another account's", async () => {
  const { msFor, later } = setup();
  await msFor("one");

  later(DAY_MS);

  expect(await msFor("other")).toBe(1);
});

test("a second caller does not wait for an already known fault", async () => {
  const { msFor } = setup("servfail");
  await msFor("one");

  expect(await msFor("other")).toBe(1);
});

test("a clock that jumps delays no caller for long", async () => {
  const { msFor, jump } = setup();
  const one = msFor("one");
  jump(30 * DAY_MS);
  await one;

  expect(await msFor("other")).toBeLessThanOrEqual(5_000);
});
