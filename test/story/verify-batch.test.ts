import { audit } from "@mailproof/core/background/audit";
import { decryptSecret } from "@mailproof/core/lib/secret-box";
import { readEvent } from "@mailproof/core/webhooks/items";
import { expect, test } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../app/drain-queues.ts";
import { withLostReplies, withMessageFates } from "../app/faulty-worlds.ts";
import { listMoves, listOutboxEvents, listStoredItems, readCredits } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { createEmails, formatRows, givenChunked, readJob, whenBatched } from "../things/jobs.ts";

const DAY_MS = 86_400_000;

test("a batch answers 202, charges at once, and its job verifies every address", async () => {
  const ctx = await givenChunked();
  const { world, liveKey } = ctx;

  const response = await whenBatched(world, liveKey, { emails: createEmails(5), name: " Spring " });
  const waiting = await readJob(ctx);
  await whenWorked(ctx);

  expect(response.statusCode).toBe(202);
  expect(response.data).toEqual({
    job_id: "job_1",
    status: "processing",
    total_emails: 5,
    unique_emails: 5,
    duplicates_removed: 0,
    created_at: "2026-11-21T00:00:00.000Z",
    credits_used: 5,
    idempotent_replay: false,
  });
  expect(listMoves(ctx)).toEqual(["charge 5"]);
  expect(waiting).toMatchObject({ name: "Spring", kind: "batch", status: "processing" });
  expect(waiting).not.toHaveProperty("results");
  const done = await readJob(ctx);
  expect(done).toMatchObject({
    status: "completed",
    progress: { total: 5, processed: 5, valid: 5, invalid: 0, risky: 0, unknown: 0 },
    processed_emails: 5,
  });
  expect(formatRows(done)).toEqual(createEmails(5).map((email, n) => `${n + 1} ${email} valid`));
  expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
  expect(await audit(ctx.table, world.now())).toMatchObject({ ok: true });
});

test("a batch splits its rows into chunks of the configured size", async () => {
  const ctx = await givenChunked({ rows: 3 });

  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(7) });

  expect(ctx.queue.pending()).toBe(3);
});

test("a batch verifies and charges a repeated address once, and returns a result for a text without an @", async () => {
  const ctx = await givenChunked();
  const emails = [
    "Bo@X.com",
    "no address",
    " bo@x.com ",
    "bo@x.com",
    "no address",
    "",
    "invalid@x.com",
  ];

  const { data } = await whenBatched(ctx.world, ctx.liveKey, { emails });
  await whenWorked(ctx);

  expect(data).toMatchObject({
    total_emails: 7,
    unique_emails: 4,
    duplicates_removed: 3,
    credits_used: 4,
  });
  expect(formatRows(await readJob(ctx))).toEqual([
    "1 Bo@x.com valid",
    "2 no address invalid",
    "6  invalid",
    "7 invalid@x.com invalid",
  ]);
  expect(await readCredits(ctx)).toMatchObject({ available: 96, spent: 4 });
});

test.each([
  ["no options", undefined, { ai: true, smtp: true }],
  ["include_ai false", { include_ai: false }, { ai: false, smtp: true }],
  ["deep_verify false", { deep_verify: false }, { ai: true, smtp: false }],
])(
  "the results of a batch with %s contain exactly the requested parts",
  async (_case, options, parts) => {
    const ctx = await givenChunked();
    await whenBatched(ctx.world, ctx.liveKey, {
      emails: createEmails(1),
      ...(options && { options }),
    });
    await whenWorked(ctx);

    const { results } = await readJob(ctx);

    expect({ ai: "ai" in results[0], smtp: results[0].verification.smtp_check }).toEqual(parts);
  },
);

const SECRET = "s".repeat(16);

test("a batch stores its webhook_url in the one event of its end, with an encrypted secret", async () => {
  const ctx = await givenChunked();
  const callback = { webhook_url: "https://x.example/done", webhook_secret: SECRET };
  await whenBatched(ctx.world, ctx.liveKey, {
    emails: [...createEmails(2), "invalid@x.com"],
    ...callback,
  });

  await whenWorked(ctx);

  const events = ctx.table
    .items()
    .filter(({ sk }) => sk === "EVENT")
    .map(readEvent);
  expect(events).toMatchObject([
    {
      type: "job.completed",
      owner: ctx.account,
      data: {
        job_id: "job_1",
        status: "completed",
        progress: { total: 3, processed: 3, valid: 2, invalid: 1, risky: 0, unknown: 0 },
      },
      callback: { url: "https://x.example/done" },
    },
  ]);
  expect(decryptSecret(ctx.world, ctx.account, events[0]?.callback?.secret ?? "")).toBe(SECRET);
  expect(JSON.stringify(ctx.table.items())).not.toContain(SECRET);
});

test.each([
  ["the maximum of addresses", createEmails(10_000), 10_000],
  ["one address", ["x".repeat(1_000)], 1],
])("a batch with %s is accepted", async (_case, emails, charged) => {
  const { world, liveKey } = await givenChunked({ rows: 100, balance: 10_000 });

  expect(await whenBatched(world, liveKey, { emails })).toMatchObject({
    statusCode: 202,
    data: { credits_used: charged },
  });
});

const HTTPS = "webhook_url: must be an https address without credentials";

test.each(asRows<[string, unknown, string]>`
  no body | ${undefined} | body: is required
  a list as body | ${createEmails(2)} | body: must be a JSON object
  no addresses | ${{}} | emails: is required
  an empty list | ${{ emails: [] }} | emails: must have at least one entry
  a text instead of addresses | ${{ emails: "ann@x.com" }} | emails: must be
  an address that is a number | ${{ emails: ["ann@x.com", 5] }} | emails.1: must be string
  an endless address | ${{ emails: ["x".repeat(1_001)] }} | emails.0: must have at most 1000
  too many addresses | ${{ emails: createEmails(10_001) }} | emails: must have at most 10000 entries
  too many texts without an @ | ${{ emails: Array(10_001).fill(5) }} | at most 10000 entries
  the field email | ${{ emails: createEmails(1), email: "ann@x.com" }} | email: is not a known field
  the field except | ${{ emails: createEmails(1), except: [] }} | except: is not a known field
  include_activity | ${{ emails: createEmails(1), include_activity: true }} | include_activity: is not a known field
  timeout_ms | ${{ emails: createEmails(1), options: { timeout_ms: 5_000 } }} | options.timeout_ms: is not a known field
  include_evidence | ${{ emails: createEmails(1), options: { include_evidence: true } }} | options.include_evidence: is not a known field
  options that are a list | ${{ emails: createEmails(1), options: [] }} | options: must be an object
  an option that is a word | ${{ emails: createEmails(1), options: { include_ai: "no" } }} | options.include_ai: must be true or false
  a name of blanks | ${{ emails: createEmails(1), name: " " }} | name: must not be empty
  an endless name | ${{ emails: createEmails(1), name: "x".repeat(201) }} | name: must have at most 200
  a callback without TLS | ${{ emails: createEmails(1), webhook_url: "http://x.example" }} | ${HTTPS}
  a callback with a password | ${{ emails: createEmails(1), webhook_url: "https://a:b@x.example" }} | ${HTTPS}
  a callback without a host | ${{ emails: createEmails(1), webhook_url: "x.example" }} | ${HTTPS}
  a secret without a callback | ${{ emails: createEmails(1), webhook_secret: SECRET }} | webhook_secret: requires webhook_url
  an empty secret | ${{ emails: createEmails(1), webhook_url: "https://x.example", webhook_secret: "" }} | webhook_secret: must not be empty
  an endless secret | ${{ emails: createEmails(1), webhook_url: "https://x.example", webhook_secret: "s".repeat(257) }}
    | webhook_secret: must have at most 256 characters
`)(
  "a batch with %s answers 400, states the field and changes nothing",
  async (_case, body, words) => {
    const ctx = await givenChunked();
    const before = listStoredItems(ctx);

    const limited = await whenBatched(ctx.world, ctx.liveKey, body);

    expect(limited).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(limited.error.message).toContain(words);
    expect(limited.error.message).toMatch(/Nothing was charged\.$/);
    expect(listStoredItems(ctx)).toEqual(before);
    expect([ctx.queue.pending(), ctx.blobs.keys()]).toEqual([0, []]);
  },
);

test.each([
  ["without an Idempotency-Key", undefined],
  ["with an Idempotency-Key", "k"],
])(
  "a batch answers 402 %s and stores and queues nothing when the credits are too few",
  async (_case, keyed) => {
    const ctx = await givenChunked({ balance: 4.5 });
    const before = listStoredItems(ctx);

    const limited = await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(5) }, keyed);

    expect(limited).toMatchObject({
      statusCode: 402,
      error: { code: "INSUFFICIENT_CREDITS", details: { needed: 5, available: 4.5 } },
    });
    expect(listStoredItems(ctx)).toEqual(before);
    expect(ctx.queue.pending()).toBe(0);
  },
);

test("a batch beyond the plan's number of addresses answers 413 before it reads the balance", async () => {
  const ctx = await givenChunked({ plan: "free", balance: 5, rows: 100 });
  const before = listStoredItems(ctx);

  const limited = await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(1_001) }, "k");

  expect(limited).toMatchObject({
    statusCode: 413,
    error: {
      code: "PAYLOAD_TOO_LARGE",
      message: "The plan free allows 1,000 addresses in one job. Nothing was charged.",
    },
  });
  expect(listStoredItems(ctx)).toEqual(before);
});

test("the plan's limit counts distinct addresses", async () => {
  const { world, liveKey } = await givenChunked({ plan: "free", balance: 1_000, rows: 100 });
  const emails = [...createEmails(1_000), ...createEmails(1_000)];

  expect((await whenBatched(world, liveKey, { emails })).statusCode).toBe(202);
});

test("a repeated batch returns the same job with idempotent_replay and costs nothing, also after the job's end", async () => {
  const ctx = await givenChunked();
  const { world, liveKey, later } = ctx;
  const body = { emails: [...createEmails(3), "ann1@x.com"] };
  const first = await whenBatched(world, liveKey, body, "k");
  const early = await whenBatched(world, liveKey, body, "k");
  await whenWorked(ctx);
  later(DAY_MS);

  const late = await whenBatched(world, liveKey, body, "k");

  expect(first.data).toMatchObject({ idempotent_replay: false });
  const replay = { ...first.data, credits_used: 0, idempotent_replay: true };
  expect([early.statusCode, early.data]).toEqual([202, replay]);
  expect([late.statusCode, late.data]).toEqual([202, replay]);
  expect(listMoves(ctx)).toEqual(["charge 3"]);
});

test.each([
  ["another list", { emails: createEmails(3) }],
  ["another order", { emails: createEmails(2).toReversed() }],
  ["another name", { emails: createEmails(2), name: "Spring" }],
  ["another callback", { emails: createEmails(2), webhook_url: "https://x.example" }],
  ["another option", { emails: createEmails(2), options: { include_ai: false } }],
])("reusing a batch's key with %s answers 409 and charges nothing", async (_case, body) => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(2) }, "k");
  const before = listStoredItems(ctx);

  const limited = await whenBatched(ctx.world, ctx.liveKey, body, "k");

  expect(limited).toMatchObject({ statusCode: 409, error: { code: "IDEMPOTENCY_KEY_CONFLICT" } });
  expect(limited.error.message).toMatch(/Nothing was charged\.$/);
  expect(listStoredItems(ctx)).toEqual(before);
});

test("a batch whose payment has no reply answers 500, and its job continues if it was paid", async () => {
  const ctx = await givenChunked();
  const world = withLostReplies(ctx, ctx.world, 1, true);

  const response = await whenBatched(world, ctx.liveKey, { emails: createEmails(3) });
  const { data } = await send(ctx.world, "GET /v1/jobs", { key: ctx.liveKey });
  await whenQuiet(ctx);

  expect(response).toMatchObject({ statusCode: 500, error: { code: "INTERNAL" } });
  expect(response.error.message).toMatch(/Do not assume a refund; check GET \/v1\/jobs before/);
  expect(data.jobs).toMatchObject([{ job_id: "job_1", status: "processing" }]);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 3 });
});

test("a batch that lowers the balance below a threshold emits the threshold's event with the debit", async () => {
  const ctx = await givenChunked({ balance: 10 });

  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(10) });

  expect(listOutboxEvents(ctx)).toEqual(["credits.low", "credits.depleted"]);
});

// From the debit on a batch is a job, whatever becomes of its messages and of the process that accepted it.

const MINUTE_MS = 60_000;

test.each(["refused", "unknown", "unheard"] as const)(
  "a batch is accepted when every message's send is %s, and its messages are sent again within minutes",
  async (fate) => {
    const ctx = await givenChunked();
    const response = await whenBatched(
      withMessageFates(ctx, () => fate),
      ctx.liveKey,
      { emails: createEmails(5) },
    );

    ctx.later(MINUTE_MS);
    await whenReconciled(ctx);
    await whenWorked(ctx);

    expect(response).toMatchObject({ statusCode: 202, data: { status: "processing" } });
    expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
    expect(listMoves(ctx)).toEqual(["charge 5"]);
    expect(listOutboxEvents(ctx)).toEqual(["job.completed"]);
  },
);

test("the reconciler sends a stuck job's messages every hour until it ends, and verifies no chunk twice", async () => {
  const ctx = await givenChunked();
  const { world, liveKey, later, queue } = ctx;
  await whenBatched(
    withMessageFates(ctx, (chunk) => (chunk === 1 ? "refused" : "sent")),
    liveKey,
    {
      emails: createEmails(5),
    },
  );
  await whenWorked(ctx);
  const lossy = { ...ctx, world: withMessageFates(ctx, () => "refused") };
  for (const minutes of [1, 60, 60]) {
    later(minutes * MINUTE_MS);
    await whenReconciled(lossy);
  }
  const stuck = await readJob(ctx);

  later(60 * MINUTE_MS);
  await whenReconciled(ctx);
  const sentAgain = queue.pending();
  await whenWorked(ctx);

  expect([stuck.status, stuck.processed_emails]).toEqual(["processing", 3]);
  expect(sentAgain).toBe(1);
  expect(await readJob(ctx)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(formatRows(await readJob(ctx))).toHaveLength(5);
  expect(await audit(ctx.table, world.now())).toMatchObject({ ok: true });
});
