import { findRecipient } from "@mailproof/core/deliverability/inbound-mail";
import { storeTestMail } from "@mailproof/core/deliverability/mail-tests/accept-test-mail";
import { findMailTest } from "@mailproof/core/deliverability/mail-tests/items";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withTable } from "../app/faulty-worlds.ts";
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

test("201: a test has an unguessable address, and costs 2 credits", async () => {
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

test("the mail that arrives is assessed, and the test is paid for good", async () => {
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

test("without a mail within the hour the test is refunded, once", async () => {
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

test("the ledger names the test and why its credits returned", async () => {
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

test("of two mails the first counts, and the second is refused", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);
  const now = ctx.world.now();

  const outcomes = await Promise.all(
    ["one@a.example", "two@b.example"].map((from) =>
      whenMailArrives(ctx.world, created.address, createMail(now, { from })),
    ),
  );
  await whenWorked(ctx);

  expect(outcomes.toSorted()).toEqual(["stored", "used"]);
  expect(await findRecipient(ctx.world, created.address)).toBe("used");
  const { data } = await readTest(ctx.world, ctx.liveKey, created.test_id);
  expect(data.from_domain).toBe(outcomes[0] === "stored" ? "a.example" : "b.example");
});

test("a reconciler that finds the test waiting refunds nothing when a mail is stored before it writes", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);
  const found = await findMailTest(ctx.world.table, created.test_id);
  ctx.later(HOUR_MS);
  let isStored = false;
  const world = withTable(ctx, {
    transact: async (writes) => {
      if (!isStored && found) {
        isStored = true;
        await storeTestMail(ctx.world, found, createMail(ctx.world.now()));
      }
      return ctx.table.transact(writes);
    },
  });

  await whenReconciled({ world });
  await whenQuiet(ctx);

  expect((await readTest(ctx.world, ctx.liveKey, created.test_id)).data.status).toBe("received");
  expect(listMoves(ctx)).toEqual(["charge 2"]);
  await thenConsistent(ctx);
});

test("a mail that cannot be assessed is our failure: the test fails and is refunded", async () => {
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

test("a mail whose message is lost is assessed all the same", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);
  const queue = { ...ctx.world.queue, sendMany: async () => ["refused" as const] };
  await whenMailArrives({ ...ctx.world, queue }, created.address);
  await whenWorked(ctx);
  expect((await readTest(ctx.world, ctx.liveKey, created.test_id)).data.status).toBe("assessing");

  await whenQuiet(ctx);

  expect((await readTest(ctx.world, ctx.liveKey, created.test_id)).data.status).toBe("received");
});

test("a mail is not accepted when it cannot be stored, and its sender may try again", async () => {
  const ctx = await given({ balance: 10 });
  const { data: created } = await whenTestCreated(ctx.world, ctx.liveKey);
  const lost = withTable(ctx, { transact: async () => ({ outcome: "ambiguous" }) });

  await expect(whenMailArrives(lost, created.address)).rejects.toThrow("unknown whether");

  expect(await whenMailArrives(ctx.world, created.address)).toBe("stored");
});

test("a repeat with the same Idempotency-Key is the same test, and free", async () => {
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

test("a test key's mail arrives by itself, and moves no credits", async () => {
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

test("a test key needs no receiver; with a live key, a server without one is 501 and charges nothing", async () => {
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

test("an address of another domain, or of no test, accepts no mail", async () => {
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

test("too few credits are 402", async () => {
  const { world, liveKey } = await given({ balance: 1 });

  expect((await whenTestCreated(world, liveKey)).statusCode).toBe(402);
});

test("500 and 503: an outcome that is not known, without a key and with one", async () => {
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

test("the sender's mail and report are erased with its address", async () => {
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
