import { openAccount } from "@mailproof/core/accounts/accounts";
import { forgetActivity } from "@mailproof/core/activity/forget";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { withUnreadable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listMoves, readCredits } from "../app/ledger.ts";
import { whenVerified } from "../app/send.ts";
import { createEvent, daysAgo, toAddress, whenEventsSent } from "../things/activity.ts";
import { readJob, whenBatched } from "../things/jobs.ts";

const DAY_MS = 86_400_000;
const ann = { email: "Ann.Lee@example.com" };

test("verifying an address again within a day returns the cached result for half a credit", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey, later } = ctx;
  const first = await whenVerified(world, liveKey, ann);
  later(DAY_MS - 1_000);

  const again = await whenVerified(world, liveKey, ann);

  expect(again.data).toEqual({ ...first.data, cached: true, credits_used: 0.5 });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1", "charge 0.5"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 8.5, held: 0, spent: 1.5 });
});

test("verifying an address again after a day asks the mail server again", async () => {
  const { world, liveKey, later } = await given({ balance: 10 });
  await whenVerified(world, liveKey, ann);
  later(DAY_MS);

  const { data } = await whenVerified(world, liveKey, ann);

  expect(data).toMatchObject({ cached: false, credits_used: 1 });
  expect(data.verified_at).toBe("2026-11-22T00:00:00.000Z");
});

test("a cached response does not extend its result's day", async () => {
  const { world, liveKey, later } = await given({ balance: 10 });
  await whenVerified(world, liveKey, ann);
  later(DAY_MS - 1_000);
  await whenVerified(world, liveKey, ann);
  later(1_000);

  expect((await whenVerified(world, liveKey, ann)).data.cached).toBe(false);
});

test.each(["ann.lee@EXAMPLE.com", "ANN.LEE@example.com", " <Ann.Lee@example.com> "])(
  "the cache treats another spelling as the same address and returns that spelling: %s",
  async (email) => {
    const { world, liveKey } = await given({ balance: 10 });
    await whenVerified(world, liveKey, ann);

    const { data } = await whenVerified(world, liveKey, { email });

    expect(data).toMatchObject({ cached: true, credits_used: 0.5 });
    expect(data.email.split("@")[0]).toBe(email.replaceAll(/[ <>]|@.*/g, ""));
  },
);

test.each(["ann.lee+x@example.com", "annlee@example.com", "ann.lee@mail.example.com"])(
  "a verification of the similar address %s does not get the cached result",
  async (email) => {
    const { world, liveKey } = await given({ balance: 10 });
    await whenVerified(world, liveKey, ann);

    expect((await whenVerified(world, liveKey, { email })).data.cached).toBe(false);
  },
);

test("the service verifies an address with an unknown result again", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  await whenVerified(world, liveKey, { email: "blocked@x.com" });

  expect((await whenVerified(world, liveKey, { email: "blocked@x.com" })).data).toMatchObject({
    status: "unknown",
    cached: false,
    credits_used: 0,
  });
});

test.each([
  ["ai", { include_ai: true }, { ai: true, evidence: false }],
  ["evidence", { include_ai: false, include_evidence: true }, { ai: false, evidence: true }],
  ["neither ai nor evidence", { include_ai: false }, { ai: false, evidence: false }],
])(
  "the cache answers a request for %s that the first request did not make",
  async (_, options, parts) => {
    for (const first of [{ include_ai: false }, { include_evidence: true }]) {
      const { world, liveKey } = await given({ balance: 10 });
      await whenVerified(world, liveKey, { ...ann, options: first });

      const { data } = await whenVerified(world, liveKey, { ...ann, options });

      expect(data.cached).toBe(true);
      expect({ ai: "ai" in data, evidence: "evidence" in data }).toEqual(parts);
    }
  },
);

test("a cached result costs half a credit and answers 402 below that", async () => {
  const { world, liveKey } = await given({ balance: 1.5 });
  await whenVerified(world, liveKey, ann);

  expect((await whenVerified(world, liveKey, { email: "bo@x.com" })).statusCode).toBe(402);
  expect((await whenVerified(world, liveKey, ann)).statusCode).toBe(200);
  expect(await whenVerified(world, liveKey, ann)).toMatchObject({
    statusCode: 402,
    error: { details: { needed: 0.5, available: 0 } },
  });
});

test("an Idempotency-Key that bought a cached result replays that result without a charge", async () => {
  const ctx = await given({ balance: 10 });
  const { world, liveKey, later } = ctx;
  await whenVerified(world, liveKey, ann);
  const bought = await whenVerified(world, liveKey, ann, "k");
  later(2 * DAY_MS);

  const replayed = await whenVerified(world, liveKey, ann, "k");

  expect(replayed.data).toEqual({ ...bought.data, credits_used: 0, idempotent_replay: true });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1", "charge 0.5"]);
});

const UNKNOWN_USER = { bounce_type: "hard", diagnostic: "550 5.1.1 User unknown" } as const;

const createBounce = (email: string, more: object = UNKNOWN_USER) =>
  createEvent("bounce", 0, { email, ...more });

test.each([
  ["catchall.ann@x.com", "catch_all", "invalid"],
  ["valid.ann@x.com", "valid", "risky"],
])(
  "mail to %s, a %s address, bounces, and the next result is %s at once",
  async (email, before, after) => {
    const { world, liveKey } = await given({ balance: 10 });
    const first = await whenVerified(world, liveKey, { email });
    await whenEventsSent(world, liveKey, createBounce(email));

    const second = await whenVerified(world, liveKey, {
      email,
      options: { include_evidence: true },
    });
    const third = await whenVerified(world, liveKey, { email });

    expect(first.data).toMatchObject({ status: before });
    expect(second.data).toMatchObject({ status: after, reason: "bounced", cached: false });
    expect(second.data.evidence.bounced_at).toBe("2026-11-21T00:00:00.000Z");
    expect(third.data).toMatchObject({ status: after, reason: "bounced", cached: true });
  },
);

test("the cached result stays unchanged after a soft bounce or a bounce about the message", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const email = "valid.ann@x.com";
  await whenVerified(world, liveKey, { email });
  await whenEventsSent(
    world,
    liveKey,
    createBounce(email, { bounce_type: "hard", diagnostic: "550 5.7.1 Rejected as spam" }),
    createBounce(email, { bounce_type: "soft" }),
    createBounce(email, {}),
  );

  const { data } = await whenVerified(world, liveKey, { email });

  expect(data).toMatchObject({ status: "valid", cached: true });
});

test("an account's bounces change no verdict of another account", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const other = await openAccount(world, { name: "B", plan: "pro", opening: credits(10) });
  const email = "catchall.ann@x.com";
  await whenVerified(world, liveKey, { email });
  for (let n = 0; n < 20; n++) await whenEventsSent(world, other.liveKey, createBounce(email));

  expect((await whenVerified(world, liveKey, { email })).data).toMatchObject({ cached: true });
  const { data } = await whenVerified(world, other.liveKey, { email });
  expect(data).toMatchObject({ status: "invalid", reason: "bounced" });
});

test("the service forgets a bounce after a month and on erasure of its address", async () => {
  const ctx = await given({ balance: 20 });
  const { world, liveKey, later } = ctx;
  const emails = ["catchall.ann@x.com", "catchall.bo@x.com"];
  await whenEventsSent(world, liveKey, ...emails.map((email) => createBounce(email)));
  await forgetActivity(world, toAddress("catchall.bo@x.com"));
  const statuses = () =>
    Promise.all(
      emails.map(async (email) => (await whenVerified(world, liveKey, { email })).data.status),
    );

  expect(await statuses()).toEqual(["invalid", "catch_all"]);
  later(31 * DAY_MS);
  expect(await statuses()).toEqual(["catch_all", "catch_all"]);
});

test("a batch row shows the bounce of its address", async () => {
  const ctx = await given({ balance: 10 });
  await whenEventsSent(ctx.world, ctx.liveKey, createBounce("catchall.ann@x.com"));
  const emails = ["catchall.ann@x.com", "catchall.bo@x.com"];
  await whenBatched(ctx.world, ctx.liveKey, { emails });

  await whenWorked(ctx);

  const { results } = await readJob(ctx);
  expect(results).toMatchObject([
    { status: "invalid", reason: "bounced" },
    { status: "catch_all", reason: "catch_all" },
  ]);
});

test("a failed read of bounces changes no verdict and fails no request", async () => {
  const ctx = await given({ balance: 10 });
  const email = "catchall.ann@x.com";
  await whenEventsSent(ctx.world, ctx.liveKey, createBounce(email));

  const { data } = await whenVerified(withUnreadable(ctx, "VERDICT#"), ctx.liveKey, { email });

  expect(data).toMatchObject({ status: "catch_all", credits_used: 1 });
});

test("mail to a domain that accepts everybody changes the confidence of the account's next address there", async () => {
  const { world, liveKey } = await given({ balance: 100 });
  const readConfidence = async (email: string) =>
    (await whenVerified(world, liveKey, { email })).data.ai.catch_all_confidence;
  const before = await readConfidence("catchall.zoe@x.com");
  for (let n = 0; n < 20; n++) {
    const email = `catchall+p${n}@x.com`;
    await whenVerified(world, liveKey, { email });
    await whenEventsSent(world, liveKey, createBounce(email, n < 18 ? UNKNOWN_USER : {}));
  }

  expect(await readConfidence("catchall.zoe@x.net")).toBe(before);
  expect(await readConfidence("catchall.zed@x.com")).toBeLessThan(before - 0.1);
});

const ask = { email: "ann@x.com", include_activity: true };
const PART = {
  last_seen: daysAgo(2),
  engagement_level: "high",
  opens_last_30d: 1,
  clicks_last_30d: 0,
};

const givenOpen = async () => {
  const ctx = await given({ balance: 10 });
  await whenEventsSent(ctx.world, ctx.liveKey, createEvent("open", 2));
  return ctx;
};

test("a verification with include_activity returns the address's activity beside the verdict for free", async () => {
  const ctx = await givenOpen();

  const { statusCode, data } = await whenVerified(ctx.world, ctx.liveKey, ask);

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ status: "valid", activity: PART, credits_used: 1 });
  expect(await readCredits(ctx)).toMatchObject({ available: 9, spent: 1 });
});

test.each([
  ["without the option", { email: "ann@x.com" }],
  ["with include_activity false", { ...ask, include_activity: false }],
  ["of an address without events", { ...ask, email: "bo@x.com" }],
  ["of a text without an address", { ...ask, email: "no address" }],
])("a verification %s omits activity", async (_case, body) => {
  const { world, liveKey } = await givenOpen();

  const { statusCode, data } = await whenVerified(world, liveKey, body);

  expect(statusCode).toBe(200);
  expect(data).not.toHaveProperty("activity");
});

test("a cached result contains the current activity", async () => {
  const { world, liveKey, later } = await givenOpen();
  await whenVerified(world, liveKey, { email: "ann@x.com" });
  await whenEventsSent(world, liveKey, createEvent("click", 0));
  later(DAY_MS / 2);

  const { data } = await whenVerified(world, liveKey, ask);

  expect(data).toMatchObject({ cached: true, credits_used: 0.5 });
  expect(data.activity).toMatchObject({ last_seen: daysAgo(0), clicks_last_30d: 1 });
});

test("a replay contains the current activity and otherwise equals the first response", async () => {
  const { world, liveKey } = await givenOpen();
  const first = await whenVerified(world, liveKey, ask, "k");
  await whenEventsSent(world, liveKey, createEvent("open", 1));

  const { data } = await whenVerified(world, liveKey, ask, "k");

  expect(data).toEqual({
    ...first.data,
    activity: { ...PART, last_seen: daysAgo(1), opens_last_30d: 2 },
    credits_used: 0,
    idempotent_replay: true,
  });
});

test("a pending response contains no activity", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  await whenEventsSent(world, liveKey, createEvent("open", 2, { email: "slow@x.com" }));

  const { data } = await whenVerified(world, liveKey, { ...ask, email: "slow@x.com" });

  expect(data.status).toBe("pending");
  expect(data).not.toHaveProperty("activity");
});

test("a verification returns its paid verdict without activity when activity cannot be read", async () => {
  const ctx = await givenOpen();

  const response = await whenVerified(withUnreadable(ctx, "ACTIVITY#"), ctx.liveKey, ask);

  expect(response).toMatchObject({ statusCode: 200, data: { status: "valid", credits_used: 1 } });
  expect(response.data).not.toHaveProperty("activity");
  expect(ctx.logged.map(({ event }) => event)).toContain("activity_unread");
});

test("a test key's verification returns mock activity", async () => {
  const { world, testKey } = await given();

  const { data } = await whenVerified(world, testKey, ask);

  expect(data.activity).toMatchObject({
    engagement_level: "high",
    last_seen: "2026-11-19T09:30:00.000Z",
  });
});
