import { findRecipient } from "@mailproof/core/deliverability/inbound-mail";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withTable, withUnreadable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listMoves, readCredits, thenConsistent } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import {
  createMail,
  readTest,
  TESTS,
  whenMailArrives,
  whenTestCreated,
} from "../things/mail-tests.ts";

const HOUR_MS = 3_600_000;

test("creating a mail test answers 201 with an address that cannot be guessed, and costs 2 credits", async () => {
  const ctx = await given({ balance: 10 });

  const { statusCode, data } = await whenTestCreated(ctx.world, ctx.liveKey);
  const other = await whenTestCreated(ctx.world, ctx.liveKey);

  expect(statusCode).toBe(201);
  expect(data).toEqual({
    test_id: expect.stringMatching(/^mlt_[\da-f]{32}$/),
    status: "waiting",
    address: expect.stringMatching(/^test-[\da-f]{32}@mail\.example\.com$/),
    created_at: "2026-11-21T00:00:00.000Z",
    expires_at: "2026-11-21T01:00:00.000Z",
    credits_charged: 2,
    credits_used: 2,
    credits_remaining: 8,
  });
  expect(other.data.address).not.toBe(data.address);
  expect(listMoves(ctx)).toEqual(["charge 2", "charge 2"]);
  await thenConsistent(ctx);
});

test("the service assesses the mail that arrives, and the test's charge becomes final", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);

  expect(await whenMailArrives(ctx.world, created.address)).toBe("stored");
  const assessing = await readTest(ctx.world, ctx.liveKey, created.test_id);
  await whenWorked(ctx);
  const received = await readTest(ctx.world, ctx.liveKey, created.test_id);
  ctx.later(2 * HOUR_MS);
  await whenReconciled(ctx);

  expect(assessing.data).toMatchObject({ status: "assessing", credits_charged: 2 });
  expect(assessing.data).not.toHaveProperty("report");
  expect(received.data).toMatchObject({
    status: "received",
    received_at: "2026-11-21T00:00:00.000Z",
    from_domain: "shop.example",
    credits_charged: 2,
    report: expect.any(Object),
  });
  expect(await readTest(ctx.world, ctx.liveKey, created.test_id)).toMatchObject({
    data: { status: "received" },
  });
  expect(listMoves(ctx)).toEqual(["charge 2"]);
  await thenConsistent(ctx);
});

test("a mail test that receives no mail within the hour is refunded once", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);

  ctx.later(HOUR_MS);
  await Promise.all([whenReconciled(ctx), whenReconciled(ctx)]);
  await whenQuiet(ctx);

  expect(await readTest(ctx.world, ctx.liveKey, created.test_id)).toMatchObject({
    data: { status: "expired", credits_charged: 0 },
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 10, refunded: 2, spent: 0 });
  expect(await whenMailArrives(ctx.world, created.address)).toBe("expired");
  await thenConsistent(ctx);
});

test("the ledger entry contains the test's id and the reason of its refund", async () => {
  const { world, liveKey, ...ctx } = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(world, liveKey);
  ctx.later(HOUR_MS);
  await whenReconciled({ world });

  const { data } = await send(world, "GET /v1/account/ledger", { key: liveKey });

  const entries = data.entries.filter(({ operation }: any) => operation === "mail_test");
  expect(entries).toMatchObject([
    { type: "refund", credits: 2, test_id: created.test_id, reason: "no_mail" },
    { type: "charge", credits: 2, test_id: created.test_id },
  ]);
  expect(entries[0]).not.toHaveProperty("job_id");
});

test("a mail test fails and is refunded when its mail cannot be assessed", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);
  await whenMailArrives(ctx.world, created.address);
  const blobs = { ...ctx.world.blobs, get: () => Promise.reject(new Error("down")) };

  await whenQuiet({ ...ctx, world: { ...ctx.world, blobs } });

  expect(await readTest(ctx.world, ctx.liveKey, created.test_id)).toMatchObject({
    data: { status: "failed", credits_charged: 0 },
  });
  expect(await readCredits(ctx)).toMatchObject({ available: 10 });
  await thenConsistent(ctx);
});

test("the receiver does not accept a mail that it cannot store, so the sender may retry", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);
  const lost = withTable(ctx, { transact: async () => ({ outcome: "ambiguous" }) });

  await expect(whenMailArrives(lost, created.address)).rejects.toThrow("unknown whether");

  expect(await whenMailArrives(ctx.world, created.address)).toBe("stored");
});

test("a repeated mail test with its Idempotency-Key returns the same test for free", async () => {
  const ctx = await given({ balance: 10 });

  const first = await whenTestCreated(ctx.world, ctx.liveKey, "k");
  const again = await whenTestCreated(ctx.world, ctx.liveKey, "k");

  expect(again.statusCode).toBe(201);
  expect(again.data).toMatchObject({
    test_id: first.data.test_id,
    credits_used: 0,
    idempotent_replay: true,
  });
  expect(listMoves(ctx)).toEqual(["charge 2"]);
});

test("a test key's mail test receives a mail by itself and moves no credits", async () => {
  const ctx = await given();
  const { data: created } = await whenTestCreated(ctx.world, ctx.testKey);

  await whenWorked(ctx);
  expect((await readTest(ctx.world, ctx.testKey, created.test_id)).data.status).toBe("waiting");
  ctx.later(1_000);
  await whenWorked(ctx);
  await whenWorked(ctx);

  expect(await readTest(ctx.world, ctx.testKey, created.test_id)).toMatchObject({
    data: { status: "received", from_domain: "example.com", credits_charged: 0 },
  });
  expect(listMoves(ctx)).toEqual([]);
});

test("a server without a mail domain answers 501 to a live key, charges nothing, and serves test keys", async () => {
  const ctx = await given({ balance: 10 });
  const settings = { ...ctx.world.settings, mailDomain: null };
  const world = { ...ctx.world, settings };

  expect((await whenTestCreated(world, ctx.testKey)).statusCode).toBe(201);
  expect(await whenTestCreated(world, ctx.liveKey, "k")).toMatchObject({
    statusCode: 501,
    error: {
      code: "NOT_CONFIGURED",
      money: "nothing_charged",
      message: expect.stringContaining("MAIL_DOMAIN"),
    },
  });
  expect(listMoves(ctx)).toEqual([]);
  expect(ctx.logged.filter(({ event }) => event === "failure")).toEqual([]);
});

test("the receiver refuses mail to another domain and to an unknown test", async () => {
  const { world, liveKey, testKey } = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(world, liveKey);
  const { data: simulated } = await whenTestCreated(world, testKey);
  const [local] = created.address.split("@");
  const [simulatedLocal] = simulated.address.split("@");

  expect(await findRecipient(world, created.address.toUpperCase())).toBe("open");
  for (const address of [
    `${local}@other.example`,
    `${local}@mail.example.com.other.example`,
    `${local}x@mail.example.com`,
    "test-@mail.example.com",
    "postmaster@mail.example.com",
    `${simulatedLocal}@mail.example.com`,
    "@mail.example.com",
    "mail.example.com",
    "",
  ])
    expect([address, await findRecipient(world, address)]).toEqual([address, "unknown"]);
});

test("creating a mail test answers 402 when the credits are too few", async () => {
  const { world, liveKey } = await given({ balance: 1 });

  expect((await whenTestCreated(world, liveKey)).statusCode).toBe(402);
});

test("creating a mail test with an unknown outcome answers 500 without an Idempotency-Key and 503 with one", async () => {
  const ctx = await given({ balance: 10 });
  const lost = withTable(ctx, { transact: async () => ({ outcome: "ambiguous" }) });

  expect(await whenTestCreated(lost, ctx.liveKey)).toMatchObject({
    statusCode: 500,
    error: { message: expect.stringContaining(`GET ${TESTS}`), money: "unknown" },
  });
  expect(await whenTestCreated(lost, ctx.liveKey, "k")).toMatchObject({
    statusCode: 503,
    error: { money: "retry_same_key" },
  });
});

test("erasing the sender's address erases the mail and its report", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey: key } = ctx;
  const { data: created } = await whenTestCreated(world, key);
  const mail = createMail(world.now(), { mailFrom: "bounces+1@shop.example" });
  await whenMailArrives(world, created.address, mail);
  await whenWorked(ctx);

  const erased = await send(world, "DELETE /v1/data", {
    key,
    query: { email: "News@shop.example" },
  });

  expect(erased.data.erased).toMatchObject({ mail_tests: 1 });
  const { data } = await readTest(world, key, created.test_id);
  expect(data.status).toBe("received");
  expect(data).not.toHaveProperty("report");
  expect(JSON.stringify(ctx.table.items())).not.toMatch(/news@|bounces\+1/);
});

const list = (
  { world, liveKey: key }: Pick<Awaited<ReturnType<typeof given>>, "world" | "liveKey">,
  query: Readonly<Record<string, string>> = {},
) => send(world, `GET ${TESTS}`, { key, query });

/** Tests of which each second one has a mail from one domain, and the others from another. */
const givenTests = async (count: number) => {
  const ctx = await given({ balance: 100 });
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { data } = await whenTestCreated(ctx.world, ctx.liveKey);
    const from = n % 2 === 0 ? "a@even.example" : "a@odd.example";
    await whenMailArrives(ctx.world, data.address, createMail(ctx.world.now(), { from }));
    ids.unshift(data.test_id);
    ctx.later(1_000);
  }
  await whenWorked(ctx);
  return { ...ctx, ids };
};

const getIds = (data: any): string[] => data.tests.map((one: any) => one.test_id);

test("the list of mail tests returns mail tests newest first, one page at a time", async () => {
  const ctx = await givenTests(5);

  const first = await list(ctx, { limit: "2" });
  const second = await list(ctx, { limit: "2", offset: first.data.next_offset });
  const third = await list(ctx, { limit: "2", offset: second.data.next_offset });

  expect([first, second, third].map(({ data }) => getIds(data))).toEqual([
    ctx.ids.slice(0, 2),
    ctx.ids.slice(2, 4),
    ctx.ids.slice(4),
  ]);
  expect(first.data.has_more).toBe(true);
  expect(third.data).toMatchObject({ has_more: false });
  expect(third.data).not.toHaveProperty("next_offset");
  expect(first.data.tests[0]).not.toHaveProperty("report");
});

test("the list of mail tests with a domain returns only the tests whose mail came from that domain", async () => {
  const ctx = await givenTests(5);

  const { data } = await list(ctx, { domain: "Odd.example", limit: "1" });
  const next = await list(ctx, { domain: "odd.example", limit: "1", offset: data.next_offset });

  expect([...getIds(data), ...getIds(next.data)]).toEqual([ctx.ids[1], ctx.ids[3]]);
  expect(data.tests[0].from_domain).toBe("odd.example");
  expect((await list(ctx, { domain: "none.example" })).data.tests).toEqual([]);
});

test("the list of mail tests answers 400 for a cursor of another list and for a malformed limit or domain", async () => {
  const ctx = await givenTests(3);
  const { data } = await list(ctx, { limit: "1" });

  for (const query of [
    { offset: "x" },
    { offset: data.next_offset, domain: "odd.example" },
    { limit: "0" },
    { domain: "no domain" },
    { x: "1" },
  ])
    expect((await list(ctx, query as Record<string, string>)).statusCode).toBe(400);
});

test("a mail test shows a report after its mail was assessed", async () => {
  const ctx = await given({ balance: 10 });
  const { data: waiting } = await whenTestCreated(ctx.world, ctx.liveKey);
  const { data: received } = await whenTestCreated(ctx.world, ctx.liveKey);
  await whenMailArrives(ctx.world, received.address);
  await whenWorked(ctx);

  const { statusCode, data } = await readTest(ctx.world, ctx.liveKey, waiting.test_id);
  expect([statusCode, data.test_id, data.status]).toEqual([200, waiting.test_id, "waiting"]);
  expect(data).not.toHaveProperty("report");
  expect((await readTest(ctx.world, ctx.liveKey, received.test_id)).data).toHaveProperty("report");
});

test("reading a mail test answers 500 when the table cannot be read", async () => {
  const ctx = await given({ balance: 10 });
  const { liveKey: key } = ctx;
  const { data } = await whenTestCreated(ctx.world, key);
  const route = `GET ${TESTS}/${data.test_id}`;

  expect((await send(withUnreadable(ctx, "MAILTEST#"), route, { key })).statusCode).toBe(500);
});
