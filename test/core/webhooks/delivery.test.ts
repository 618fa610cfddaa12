import { readFileSync } from "node:fs";
import { getOwnerId, type KeyMode } from "@mailproof/core/money/payer";
import type { HttpsOutcome } from "@mailproof/core/ports/https";
import type { Item } from "@mailproof/core/ports/table";
import { deliverEvent } from "@mailproof/core/webhooks/deliver-event";
import { emitEvent, readDelivery } from "@mailproof/core/webhooks/items";
import { EVENT_DATA, EventPayload, WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import {
  type DeliveryVerdict,
  getNextAttempt,
  getSlotWaitMs,
  judgeResponse,
  RETRY_WINDOW_MS,
} from "@mailproof/core/webhooks/retry-policy";
import { generateSecret, signHeaders, toSigningKey } from "@mailproof/core/webhooks/signature";
import * as standard from "standardwebhooks";
import * as svix from "svix";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { whenQuiet, whenReconciled, whenWorked } from "../../app/drain-queues.ts";
import { rejectDown } from "../../app/faulty-worlds.ts";
import { given, givenWorld, START } from "../../app/given.ts";
import { readCredits } from "../../app/ledger.ts";
import { send, whenVerified } from "../../app/send.ts";
import { eventually } from "../../runner/eventually.ts";
import { createRandom } from "../../simulation/random.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  type TestContext,
  whenBatched,
  whenFiled,
} from "../../things/jobs.ts";
import {
  DAY_MS,
  givenHook,
  HOUR_MS,
  parseEvents,
  readDeliveries,
  readWebhook,
  verifyCall,
  whenEventEmitted,
  whenPassed,
  whenScheduledWorkRuns,
  whenSubscribed,
} from "../../things/webhooks.ts";

test("the service repeats a failed delivery with the same id and body, a new timestamp and a valid signature", async () => {
  const ctx = await givenHook();
  ctx.servers.answer(500);
  await whenEventEmitted(ctx);
  await whenPassed(ctx, HOUR_MS);
  ctx.servers.answer(200);

  await whenPassed(ctx, 12 * HOUR_MS);

  const { received } = ctx.servers;
  expect(received.length).toBeGreaterThan(3);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(
    received.length,
  );
  for (const one of received) expect(verifyCall(ctx.secret, one)).toBeDefined();
  expect(await readDeliveries(ctx)).toMatchObject([
    { status: "delivered", attempts: received.length, next_attempt_at: null, error: null },
  ]);
});

test("the service abandons a failed delivery after a day, and leaves no due work", async () => {
  const ctx = await givenHook();
  ctx.servers.answer(() => "connect_timeout");
  await whenEventEmitted(ctx);

  await whenPassed(ctx, DAY_MS + HOUR_MS);

  expect(await readDeliveries(ctx)).toMatchObject([
    { status: "failed", error: "connect_timeout", response_status: null, next_attempt_at: null },
  ]);
  expect(ctx.table.hasScheduledWork()).toBe(false);
  const [first, last] = [ctx.servers.received.at(0), ctx.servers.received.at(-1)];
  expect(Number(last?.at) - Number(first?.at)).toBeGreaterThanOrEqual(DAY_MS);
});

test("the service sends no unsigned delivery when it cannot decrypt the secret", async () => {
  const ctx = await givenHook();
  await whenEventEmitted(ctx);
  ctx.later(30_000);
  const settings = { ...ctx.world.settings, encryptionKey: "another key of the operator" };

  await whenScheduledWorkRuns({ ...ctx, world: { ...ctx.world, settings } });

  expect(ctx.servers.received).toEqual([]);
  expect(await readDeliveries(ctx)).toMatchObject([
    { status: "pending", error: "secret_unreadable", attempts: 1 },
  ]);
  expect(ctx.logged).toContainEqual(expect.objectContaining({ event: "secret_unreadable" }));
});

test("the service disables a webhook at once when its receiver answers 410, and shows its owner the reason", async () => {
  const ctx = await givenHook();
  ctx.servers.answer(410);
  await whenEventEmitted(ctx);
  ctx.later(30_000);
  await whenScheduledWorkRuns(ctx);

  expect(await readWebhook(ctx)).toMatchObject({ status: "disabled", disabled_because: "gone" });
  expect(await readDeliveries(ctx)).toMatchObject([
    {
      event: "webhook.disabled",
      status: "noted",
      attempts: 0,
      error: expect.stringContaining("410"),
    },
    { event: "credits.low", status: "failed", response_status: 410 },
  ]);
  expect(ctx.logged).toContainEqual(expect.objectContaining({ event: "webhook_disabled" }));
  await whenEventEmitted(ctx);
  await whenQuiet(ctx);
  expect(ctx.servers.received).toHaveLength(1);
});

/** An event every six hours. */
const whenDaysElapse = async (ctx: TestContext, days: number): Promise<void> => {
  for (let quarter = 0; quarter < days * 4; quarter++) {
    await whenEventEmitted(ctx);
    await whenPassed(ctx, 6 * HOUR_MS);
  }
};

test("the service disables a webhook whose deliveries all fail after five days, not before, with a log entry", async () => {
  const ctx = await givenHook();
  ctx.servers.answer(500);

  await whenDaysElapse(ctx, 4.75);
  expect(await readWebhook(ctx)).toMatchObject({
    status: "active",
    failing_since: "2026-11-21T00:01:00.000Z",
  });

  await whenDaysElapse(ctx, 1);
  expect(await readWebhook(ctx)).toMatchObject({
    status: "disabled",
    disabled_because: "failing",
  });
  const notes = (await readDeliveries(ctx)).filter(({ status }) => status === "noted");
  expect(notes).toMatchObject([
    { event: "webhook.disabled", error: expect.stringContaining("five days") },
  ]);
  await whenPassed(ctx, HOUR_MS);
  const calls = ctx.servers.received.length;
  await whenDaysElapse(ctx, 1);
  expect(ctx.servers.received).toHaveLength(calls);
  expect(ctx.table.hasScheduledWork()).toBe(false);
}, 60_000);

test("the service never disables a webhook with an occasional successful delivery", async () => {
  const ctx = await givenHook();
  ctx.servers.answer(500);
  await whenDaysElapse(ctx, 3);
  ctx.servers.answer(200);
  await whenPassed(ctx, 6 * HOUR_MS);
  expect(await readWebhook(ctx)).not.toHaveProperty("failing_since");
  ctx.servers.answer(500);

  await whenDaysElapse(ctx, 4);

  expect(await readWebhook(ctx)).toMatchObject({ status: "active" });
}, 60_000);

test("a webhook that its owner enables again gets another five days", async () => {
  const ctx = await givenHook();
  ctx.servers.answer(410);
  await whenEventEmitted(ctx);
  await whenQuiet(ctx);
  const body = { status: "active" };
  await send(ctx.world, "PUT /v1/webhooks/whk_1", { key: ctx.liveKey, body });
  ctx.servers.answer(200);
  await whenEventEmitted(ctx);

  await whenQuiet(ctx);

  expect(await readDeliveries(ctx)).toMatchObject([{ status: "delivered" }, {}, {}]);
});

const isWaitingForSlot = (item: Item): boolean =>
  item.sk === "DELIVERY" && readDelivery(item).waits > 0;

const URL = "https://back.example/done";

test("a callback of a batch carries a signature by the secret of its request", async () => {
  const ctx = await givenChunked();
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const callback = { webhook_url: URL, webhook_secret: secret };

  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(3), ...callback });
  await whenWorked(ctx);

  const [call] = ctx.servers.received;
  expect(call?.url).toBe(URL);
  expect(call && verifyCall(secret, call)).toMatchObject({ type: "job.completed" });
});

test("a callback of a batch without a secret, or of a file, carries no signature", async () => {
  const ctx = await givenChunked();
  await whenBatched(ctx.world, ctx.liveKey, { emails: createEmails(3), webhook_url: URL });
  const fileKey = await givenUpload(ctx, ctx.liveKey, formatCsv(createEmails(3)));
  await whenFiled(ctx.world, ctx.liveKey, createProcessRequest(fileKey, { webhook_url: URL }));

  await whenWorked(ctx);

  expect(ctx.servers.received).toHaveLength(2);
  for (const { headers } of ctx.servers.received) {
    expect(headers).not.toHaveProperty("webhook-signature");
    expect(headers["webhook-id"]).toMatch(/^evt_/);
  }
});

test.each<[string, readonly KeyMode[]]>([
  ["a live key", ["live"]],
  ["a live and a test key", ["live", "test"]],
])(
  "callbacks to hanging servers leave half of the concurrent deliveries to other accounts, with %s",
  async (_keys, modes) => {
    const ctx = await given();
    const { world, table, queue, servers, account } = ctx;
    const { promise: hung, resolve: letGo } = Promise.withResolvers<number>();
    servers.answer(() => hung);
    const data = { account_id: account, available: 5, threshold: 10 };
    for (let n = 0; n < 100; n++) {
      const callback = { url: `https://h${n}.example/`, secret: null };
      const owner = getOwnerId({ account, mode: modes[n % modes.length] ?? "live" });
      await table.transact([emitEvent(world, owner, "credits.low", data, callback)]);
    }
    ctx.later(30_000);
    await whenReconciled(ctx);

    const inHand: Promise<void>[] = [];
    for (;;) {
      const messages = await queue.receive(deliverEvent.queue, { max: 10, waitMs: 0 });
      if (messages.length === 0) break;
      inHand.push(...messages.map(({ body }) => deliverEvent.handle(world, body)));
    }
    await eventually(() => expect(table.items().filter(isWaitingForSlot)).toHaveLength(68));

    expect(servers.received).toHaveLength(32);
    letGo(200);
    await Promise.all(inHand);
  },
);

test.each([
  ["a batch", "POST /v1/verify/batch", { emails: createEmails(1) }],
  [
    "a file",
    "POST /v1/verify/file",
    createProcessRequest("uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv"),
  ],
])(
  "the service refuses a callback to a private address with %s, before any charge",
  async (_, route, body) => {
    const ctx = await givenChunked();
    ctx.servers.refuse(() => "private_address");

    const { statusCode, error } = await send(ctx.world, route, {
      key: ctx.liveKey,
      body: { ...body, webhook_url: "https://10.0.0.1/" },
    });

    expect(statusCode).toBe(400);
    expect(error.message).toBe(
      "webhook_url: must not resolve to a private address, unless OUTBOUND_ALLOW_PRIVATE permits it. Nothing was charged.",
    );
  },
);

const answer = (status: number, retryAfter: string | null = null): HttpsOutcome => ({
  kind: "answer",
  status,
  retryAfter,
  contentType: "",
  body: "",
  isComplete: true,
});
const failedUntil = (earliestMs = 0): DeliveryVerdict => ({ kind: "failed", earliestMs });
const DELIVERED: DeliveryVerdict = { kind: "delivered" };

test.each<[string, HttpsOutcome, DeliveryVerdict]>([
  ["200", answer(200), DELIVERED],
  ["202", answer(202), DELIVERED],
  ["299", answer(299), DELIVERED],
  ["a redirect", answer(301), failedUntil()],
  ["not modified", answer(304), failedUntil()],
  ["400", answer(400), failedUntil()],
  ["404", answer(404), failedUntil()],
  ["410", answer(410), { kind: "gone" }],
  ["500", answer(500), failedUntil()],
  ["no server at the address", { kind: "failed", why: "connect_refused" }, failedUntil()],
  ["429 with a delay in seconds", answer(429, "120"), failedUntil(120_000)],
  ["503 with a delay in seconds", answer(503, "7"), failedUntil(7_000)],
  ["503 with a date", answer(503, "Sat, 21 Nov 2026 00:02:00 GMT"), failedUntil(120_000)],
  ["429 with a date in the past", answer(429, "Sat, 21 Nov 2020 00:02:00 GMT"), failedUntil()],
  ["429 without Retry-After", answer(429), failedUntil()],
  ["429 with an unreadable Retry-After", answer(429, "soon"), failedUntil()],
  ["429 with a negative number", answer(429, "-5"), failedUntil()],
  ["429 with a number of forty digits", answer(429, "9".repeat(40)), failedUntil()],
  ["500 with Retry-After, which is ignored", answer(500, "60"), failedUntil()],
])("the retry policy judges the receiver's answer: %s", (_what, outcome, verdict) => {
  expect(judgeResponse(outcome, START)).toEqual(verdict);
});

const HOUR = 3_600_000;

/** The times of all attempts, in ms after the first, when every one fails at once. */
const listAttempts = (seed: number): number[] => {
  const random = createRandom(seed);
  const tries = [0];
  for (;;) {
    const now = new Date(START.getTime() + (tries.at(-1) ?? 0));
    const attempted = { attempts: tries.length, triedSince: START };
    const next = getNextAttempt(attempted, { now, random, earliestMs: 0 });
    if (!next) return tries;
    tries.push(next.getTime() - START.getTime());
  }
};

test("the service attempts a delivery for a day, and once more at the end of the day", () => {
  for (let seed = 0; seed < 500; seed++) {
    const tries = listAttempts(seed);
    expect(tries.at(-1), `seed ${seed}`).toBe(RETRY_WINDOW_MS);
    expect(tries.length).toBeGreaterThan(8);
    expect(tries.length).toBeLessThan(60);
  }
});

test("a delivery outlives an outage of six hours with any jitter", () => {
  for (let seed = 0; seed < 500; seed++)
    expect(listAttempts(seed).some((ms) => ms > 6 * HOUR)).toBe(true);
});

test("the delays between attempts grow up to four hours, and chance draws each between zero and its maximum", () => {
  const listGaps = (attempts: number) =>
    Array.from({ length: 200 }, (_, seed) => {
      const random = createRandom(seed);
      const next = getNextAttempt(
        { attempts, triedSince: START },
        { now: START, random, earliestMs: 0 },
      );
      return (next?.getTime() ?? 0) - START.getTime();
    });
  const mosts = [10_000, 60_000, 300_000, 1_800_000, HOUR, 2 * HOUR, 4 * HOUR, 4 * HOUR, 4 * HOUR];

  for (const [before, most] of mosts.entries()) {
    const gaps = listGaps(before + 1);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(most);
    expect(Math.max(...gaps)).toBeGreaterThan(most * 0.9);
    expect(Math.min(...gaps)).toBeLessThan(most * 0.1);
  }
});

test("a delivery waits as long as its receiver asked, but not beyond the day", () => {
  const attempted = { attempts: 1, triedSince: START };
  const after = (earliestMs: number) =>
    (getNextAttempt(attempted, { now: START, random: () => 0, earliestMs })?.getTime() ?? 0) -
    START.getTime();

  expect(after(120_000)).toBe(120_000);
  expect(after(30 * RETRY_WINDOW_MS)).toBe(RETRY_WINDOW_MS);
});

test("a delivery without a slot waits longer each time, and never longer than a queue can delay a message", () => {
  const most = (waits: number) => getSlotWaitMs(waits, () => 1);

  expect([0, 1, 2, 3].map(most)).toEqual([2_000, 3_000, 5_000, 9_000]);
  expect(most(1_000)).toBe(900_000);
  expect(getSlotWaitMs(1_000, () => 0)).toBe(1_000);
});

test("every event matches its documented schema, for each of its causes", async () => {
  const ctx = await givenChunked({ balance: 20 });
  const { world, liveKey, servers } = ctx;
  await whenSubscribed(ctx);

  await whenVerified(world, liveKey, { email: "slow@x.com" });
  const broken = { ...world, engine: { ...world.engine, probe: rejectDown } };
  await whenBatched(world, liveKey, { emails: [...createEmails(2), "invalid@x.com"] });
  await whenBatched(world, liveKey, { emails: ["error@x.com"] });
  const fileKey = await givenUpload(ctx, liveKey, formatCsv(["error@x.com"]));
  await whenFiled(world, liveKey, createProcessRequest(fileKey));
  const failingFileKey = await givenUpload(ctx, liveKey, formatCsv(["bo@x.com"]));
  const refusing = {
    ...world.queue,
    sendMany: async (_: string, all: readonly unknown[]) => all.map(() => "refused" as const),
  };
  await whenFiled({ ...world, queue: refusing }, liveKey, createProcessRequest(failingFileKey));
  await whenVerified(world, liveKey, { email: "slow+2@x.com" });
  await whenQuiet({ ...ctx, world: broken });
  const { available } = await readCredits(ctx);
  await whenBatched(world, liveKey, { emails: createEmails(available) });
  await whenQuiet(ctx);

  const events = parseEvents(servers.received);
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(["job.completed", "job.failed", "credits.low", "credits.depleted"]),
  );
  for (const event of events) v.parse(EventPayload, event);
});

const AT = { id: "evt_1", created_at: "2026-11-21T00:00:00.000Z" };

test.each([
  [
    "blacklist.detected",
    { domain: "a.example", sending_ip: "192.0.2.1", check_id: "chk_1", listed_on: ["zen"] },
  ],
  [
    "dmarc.failed",
    { domain: "a.example", check_id: "chk_1", status: "fail", policy: "none", issues: ["X"] },
  ],
])("the payload of %s contains the agreed fields", (type, data) => {
  expect(v.is(EventPayload, { ...AT, type, data })).toBe(true);
  expect(v.is(EventPayload, { ...AT, type, data: { ...data, domain: undefined } })).toBe(false);
});

test("docs/webhooks.md lists every event with all its fields", () => {
  const page = readFileSync("docs/webhooks.md", "utf8");

  for (const { entries } of EventPayload.options) {
    const row = page.split("\n").find((line) => line.startsWith(`| \`${entries.type.literal}\` `));
    const fields = row?.split("|").at(-2)?.match(/\w+/g);
    expect(fields, `${entries.type.literal}`).toEqual(Object.keys(entries.data.entries));
  }
});

test("every event of the contract matches a schema", () => {
  expect(WEBHOOK_EVENT_TYPES).toEqual(Object.keys(EVENT_DATA));
  const documented = EventPayload.options.map(({ entries }) => entries.type.literal as string);
  expect(documented.toSorted()).toEqual([...WEBHOOK_EVENT_TYPES, "webhook.test"].toSorted());
});

describe("the signature of a delivery", () => {
  // Third-party libraries verify what we sign. They use the real clock.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: START }));
  afterEach(() => void vi.useRealTimers());

  const BODY = '{"id":"evt_1","type":"job.completed","data":{"name":"Zoë 👋"}}';
  const MESSAGE = { id: "evt_1", body: BODY, at: START };

  describe.each([
    ["standardwebhooks", standard.Webhook],
    ["svix", svix.Webhook],
  ])("%s", (_name, Webhook) => {
    const secret = generateSecret(givenWorld().world);
    const verify = (body: string, headers: Record<string, string>, by = secret) =>
      new Webhook(by).verify(body, headers);

    test("a verifier accepts our signature", () => {
      expect(() => verify(BODY, signHeaders(MESSAGE, secret))).not.toThrow();
    });
  });

  test("the signer uses a secret that a customer made up by its own bytes", () => {
    const secret = "not base64 at all!";
    const webhook = new standard.Webhook(secret, { format: "raw" });

    expect(webhook.verify(BODY, signHeaders(MESSAGE, secret))).toEqual(JSON.parse(BODY));
  });

  test("the signer adds no signature without a secret", () => {
    expect(signHeaders(MESSAGE, null)).toEqual({
      "webhook-id": "evt_1",
      "webhook-timestamp": "1795219200",
    });
  });

  test("a generated secret contains 24 random bytes, and no two are equal", () => {
    const { world } = givenWorld();
    const secrets = Array.from({ length: 100 }, () => generateSecret(world));

    expect(new Set(secrets).size).toBe(100);
    expect(secrets.map((secret) => toSigningKey(secret).length)).toEqual(Array(100).fill(24));
  });

  test.each(["whsec_", "whsec_a", "whsec_not base64", "whsec_ab$d", "whsec_YWJj-_"])(
    "the secret %s is not base64 after whsec_, so that its own bytes are the key",
    (secret) => {
      expect(toSigningKey(secret).toString()).toBe(secret);
    },
  );

  test.each(["whsec_YWJjZA==", "whsec_YWJjZA"])(
    "the secret %s is base64, padded or not",
    (secret) => {
      expect(toSigningKey(secret).toString()).toBe("abcd");
    },
  );
});
