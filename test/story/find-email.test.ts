import { openAccount } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { whenReconciled } from "../app/drain-queues.ts";
import {
  createStoppingWorld,
  runTurn,
  withSlowEngine,
  withUnreadable,
} from "../app/faulty-worlds.ts";
import { given, START } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits } from "../app/ledger.ts";
import { whenFound } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";

const ann = { first_name: "Ann", last_name: "Lee", domain: "example.com" };
const MINUTE_MS = 60_000;

test("a search for an existing person answers 200 with a verified address and costs 5 credits", async () => {
  const ctx = await given({ balance: 20 });

  const response = await whenFound(ctx.world, ctx.liveKey, {
    first_name: " Ann ",
    last_name: "Lee",
    domain: "Example.COM",
  });

  expect(response.statusCode).toBe(200);
  expect(response.data).toEqual({
    first_name: "Ann",
    last_name: "Lee",
    domain: "example.com",
    domain_unicode: "example.com",
    email: "ann.lee@example.com",
    confidence: 98,
    pattern: "first.last",
    verified: true,
    status: "valid",
    message: "The mail server accepts this mailbox and rejects random ones.",
    credits_used: 5,
    credits_remaining: 15,
  });
  expect(listMoves(ctx)).toEqual(["hold 5", "settle 5"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 15, held: 0, spent: 5 });
});

test.each([
  ["a full mailbox", "Full", "example.com", { status: "risky", pattern: "first.last" }],
  ["a server that reveals nothing", "Risky", "example.com", { status: "risky", pattern: null }],
  ["a domain that accepts everybody", "Catchall", "example.com", { status: "catch_all" }],
  ["a role mailbox", "Info", "example.com", { status: "role" }],
])(
  "a search that finds %s answers 200 with an unverified address and costs credits",
  async (_, first, domain, found) => {
    const ctx = await given({ balance: 20 });
    const body = { first_name: first, last_name: "Lee", domain };

    const { data } = await whenFound(ctx.world, ctx.liveKey, body);

    expect(data).toMatchObject({ ...found, verified: false, credits_used: 5 });
    expect(data.email).toMatch(/@example\.com$/);
    expect(data.confidence).toBeGreaterThan(0);
    expect(data.confidence).toBeLessThan(90);
    expect(await readCredits(ctx)).toMatchObject({ spent: 5 });
  },
);

test.each([
  ["a name without a mailbox", "Invalid", "example.com", "not_found"],
  ["a domain that does not exist", "Ann", "nxdomain.com", "not_found"],
  ["a domain without mail", "Ann", "nullmx.com", "not_found"],
  ["a domain that cannot be looked up", "Ann", "dnsfail.com", "unknown"],
  ["a silent server", "Unknown", "example.com", "unknown"],
  ["a server that greylists", "Greylisted", "example.com", "unknown"],
  ["a slow server", "Slow", "example.com", "unknown"],
])(
  "a search that meets %s answers 200 without an address and costs credits",
  async (_, first, domain, status) => {
    const ctx = await given({ balance: 20 });
    const body = { first_name: first, last_name: "Lee", domain };

    const { data } = await whenFound(ctx.world, ctx.liveKey, body);

    expect(data).toMatchObject({
      status,
      email: null,
      confidence: 0,
      pattern: null,
      verified: false,
      credits_used: 5,
      message: expect.any(String),
    });
    expect(await readCredits(ctx)).toMatchObject({ held: 0, spent: 5 });
  },
);

const OTHER_SCRIPT =
  "cannot be read; write it in Latin letters. Other scripts that are read: Cyrillic, Greek, Armenian, Georgian, Devanagari, Hangul, Kana, and Han for Chinese and common Japanese names.";
const MISSING = "is missing; send a first and a last name.";
test.each(asRows`
  blanks | ${" "} | Lee | ${`first_name ${MISSING}`}
  two words as the first name and an empty last name | Ada Lovelace | ${""} | ${`last_name ${MISSING}`}
  invisible characters | Ann | ${"\u200b\u00a0"} | ${`last_name ${MISSING}`}
  two empty names | ${""} | ${""} | ${`first_name ${MISSING} last_name ${MISSING}`}
  a last name of punctuation | Ann | !!! | last_name has no letters.
  a first name of digits | ${"4711"} | Lee | first_name has no letters.
  Hebrew and Thai letters | יוסף | ใจดี | ${`first_name ${OTHER_SCRIPT} last_name ${OTHER_SCRIPT}`}
  Arabic beside Latin letters | محمد | Lee | ${`first_name ${OTHER_SCRIPT}`}
  Tamil letters | Priya | சர்மா | ${`last_name ${OTHER_SCRIPT}`}
  an unknown Japanese first name | 鷹志 | 田中 | ${`first_name ${OTHER_SCRIPT}`}
  Arabic letters alone | مينا | ${""} | ${`first_name ${OTHER_SCRIPT} last_name ${MISSING}`}
`)(
  "a search with %s returns invalid_name with a reason, costs nothing and stores nothing",
  async (_, first, last, why) => {
    const ctx = await given({ balance: 0 });
    const before = listStoredItems(ctx);

    const { statusCode, data } = await whenFound(ctx.world, ctx.liveKey, {
      ...ann,
      first_name: first,
      last_name: last,
    });

    expect(statusCode).toBe(200);
    expect(data).toMatchObject({ status: "invalid_name", email: null, confidence: 0 });
    expect(data.message).toBe(`${why} Nothing was charged.`);
    expect(data).toMatchObject({ credits_used: 0, credits_remaining: 0, verified: false });
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("repeating a search within its two minutes returns the same result and charges nothing", async () => {
  const ctx = await given({ balance: 20 });
  const first = await whenFound(ctx.world, ctx.liveKey, ann);
  ctx.later(2 * MINUTE_MS - 1);

  const repeat = await whenFound(ctx.world, ctx.liveKey, {
    first_name: "ANN",
    last_name: " lee",
    domain: "EXAMPLE.com",
  });

  expect(repeat.data).toEqual({
    ...first.data,
    first_name: "ANN",
    last_name: "lee",
    credits_used: 5,
    idempotent_replay: true,
  });
  expect(first.data).not.toHaveProperty("idempotent_replay");
  expect(await readCredits(ctx)).toMatchObject({ available: 15, spent: 5 });
});

test.each([
  ["another two-minute interval", ann, 2 * MINUTE_MS],
  ["another first name", { ...ann, first_name: "Anne" }, 0],
  ["another last name", { ...ann, last_name: "Leigh" }, 0],
  ["another domain", { ...ann, domain: "example.org" }, 0],
])(
  "a search that differs by %s counts as a new search and costs credits",
  async (_, body, afterMs) => {
    const ctx = await given({ balance: 20 });
    await whenFound(ctx.world, ctx.liveKey, ann);
    ctx.later(afterMs);

    const { data } = await whenFound(ctx.world, ctx.liveKey, body);

    expect(data).not.toHaveProperty("idempotent_replay");
    expect(await readCredits(ctx)).toMatchObject({ spent: 10 });
  },
);

test("a search's two minutes begin at an even minute of the clock", async () => {
  const ctx = await given({ balance: 20 });
  ctx.later(2 * MINUTE_MS - 1);
  await whenFound(ctx.world, ctx.liveKey, ann);
  ctx.later(1);

  expect((await whenFound(ctx.world, ctx.liveKey, ann)).data).not.toHaveProperty(
    "idempotent_replay",
  );
});

test("a repeat of the slowest search returns its result", async () => {
  const ctx = await given({ balance: 20 });
  const world = withSlowEngine(ctx);

  const both = await Promise.all([1, 2].map(() => whenFound(world, ctx.liveKey, ann)));

  expect(both.map(({ data }) => data?.status)).toEqual(["unknown", "unknown"]);
  // Either may have been the first.
  expect(both.filter(({ data }) => data.idempotent_replay)).toHaveLength(1);
  expect(await readCredits(ctx)).toMatchObject({ available: 15, spent: 5 });
});

test("a search never replays another account's result", async () => {
  const ctx = await given({ balance: 20 });
  const other = await openAccount(ctx.world, {
    name: "Bo's",
    plan: "pro",
    opening: credits(5),
  });
  await whenFound(ctx.world, ctx.liveKey, ann);

  const { data } = await whenFound(ctx.world, other.liveKey, ann);

  expect(data).not.toHaveProperty("idempotent_replay");
  expect(await readCredits({ ...ctx, account: other.account })).toMatchObject({ spent: 5 });
});

test.each(asRows<[string, unknown, string]>`
  no body | ${undefined} | body: is required
  a list | ${[ann]} | body: must be a JSON object
  no names | ${{ domain: "example.com" }} | first_name: is required; last_name: is required
  a name that is null | ${{ ...ann, last_name: null }} | last_name: must be string
  a long name | ${{ ...ann, first_name: "x".repeat(65) }} | first_name: must have at most 64
  a long last name | ${{ ...ann, last_name: "é".repeat(65) }} | last_name: must have at most 64
  an unknown field | ${{ ...ann, company: "Acme" }} | company: is not a known field
  no domain | ${{ first_name: "Ann", last_name: "Lee" }} | domain: is required
  a blank domain | ${{ ...ann, domain: " " }} | domain: must be a domain name such as
  an address as domain | ${{ ...ann, domain: "a@b.com" }} | domain: must be a domain name
  a link to an IP address as domain | ${{ ...ann, domain: "http://192.0.2.1/" }} | domain: must be a domain
  a free mail provider as domain | ${{ ...ann, domain: "gmail.com" }} | domain: gmail.com is a free mail provider; use the company's domain.
  a disposable mail provider as domain | ${{ ...ann, domain: "mailinator.com" }} | domain: mailinator.com is a disposable mail provider; use the
`)(
  "a search with %s answers 400, states the field and stores nothing",
  async (_case, body, words) => {
    const ctx = await given({ balance: 20 });
    const before = listStoredItems(ctx);

    const limited = await whenFound(ctx.world, ctx.liveKey, body);

    expect(limited).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(limited.error.message).toContain(words);
    expect(limited.error.message).toMatch(/Nothing was charged\.$/);
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test.each([
  ["letters that JavaScript counts twice", "𐐷", 64],
  ["letters with a separate accent", "e\u0301", 64],
])("a search accepts at most sixty-four %s in a name", async (_case, letter, most) => {
  const { world, testKey } = await given();
  const withName = async (count: number) =>
    (await whenFound(world, testKey, { ...ann, first_name: letter.repeat(count) })).statusCode;

  expect([await withName(most), await withName(most + 1)]).toEqual([200, 400]);
});

test("a search accepts a name that is a property of JavaScript objects", async () => {
  const { world, testKey } = await given();
  const body = { ...ann, first_name: "Constructor" };

  expect((await whenFound(world, testKey, body)).data).toMatchObject({ status: "valid" });
});

test("a search answers 402 with the missing credits and stores nothing when the credits are too few", async () => {
  const ctx = await given({ balance: 4.5 });
  const before = listStoredItems(ctx);

  const limited = await whenFound(ctx.world, ctx.liveKey, ann);

  expect(limited).toMatchObject({
    statusCode: 402,
    error: {
      code: "INSUFFICIENT_CREDITS",
      message: "This costs 5 credits and the account has 4.5. Nothing was charged.",
      details: { needed: 5, available: 4.5 },
    },
  });
  expect(listStoredItems(ctx)).toEqual(before);
});

test("the reconciler refunds a search whose process crashed, and a repeated search is charged", async () => {
  const ctx = await given({ balance: 20 });
  const { world } = createStoppingWorld(ctx, 1);
  void whenFound(world, ctx.liveKey, ann);
  await runTurn();
  expect(await readCredits(ctx)).toMatchObject({ held: 5 });
  ctx.later(MINUTE_MS);

  await whenReconciled(ctx);

  expect(await readCredits(ctx)).toMatchObject({ available: 20, held: 0, refunded: 5 });
  const again = await whenFound(ctx.world, ctx.liveKey, ann);
  expect(again.data).toMatchObject({ status: "valid" });
  expect(again.data).not.toHaveProperty("idempotent_replay");
});

test("the search states credits_remaining when the balance read fails after the charge, and on a repeat", async () => {
  const ctx = await given({ balance: 20 });
  const world = withUnreadable(ctx, "BALANCE#", 1);

  const first = await whenFound(world, ctx.liveKey, ann);
  await whenFound(ctx.world, ctx.liveKey, { ...ann, first_name: "Bo" });
  const repeat = await whenFound(world, ctx.liveKey, ann);

  expect(first.data).toMatchObject({ credits_used: 5, credits_remaining: 15 });
  expect(repeat.data).toMatchObject({ credits_remaining: 15, idempotent_replay: true });
});

test("a search stores its domain's pattern for every account, and no address", async () => {
  const ctx = await given({ balance: 20 });

  await whenFound(ctx.world, ctx.liveKey, ann);

  const domainItems = ctx.table.items().filter(({ pk }) => pk === "DOMAIN#example.com");
  expect(domainItems).toEqual([
    {
      pk: "DOMAIN#example.com",
      sk: "NAMING",
      "first.last": 1,
      expires_at: START.getTime() / 1000 + 180 * 86_400,
    },
  ]);
});
