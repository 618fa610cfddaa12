import { grantCredits } from "@mailproof/core/accounts/accounts";
import { credits } from "@mailproof/core/money/credits";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { listMoves, listStoredItems, readCredits } from "../app/ledger.ts";
import { send, whenVerified } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";

test("a verification answers 200 with every finding and costs 1 credit", async () => {
  const ctx = await given({ balance: 10 });

  const response = await whenVerified(ctx.world, ctx.liveKey, { email: " Ann.Lee@Example.com " });

  expect(response.statusCode).toBe(200);
  expect(response.data).toEqual({
    email: "Ann.Lee@example.com",
    status: "valid",
    quality_score: 100,
    reason: "accepted",
    sub_status: null,
    provider: expect.any(String),
    verification: {
      syntax_valid: true,
      domain_exists: true,
      mx_found: true,
      smtp_check: true,
      mailbox_exists: true,
      catch_all: false,
      not_known: [],
    },
    flags: {
      disposable: false,
      role_account: false,
      free_provider: false,
      spam_trap: false,
      honeypot: false,
      bot_generated: false,
      disposable_hint: false,
      forwarding_mx: false,
    },
    enrichment: { first_name: "Ann", last_name: "Lee", full_name: "Ann Lee", gender: "unknown" },
    ai: { typo_suggestion: null, typo_confidence: null, catch_all_confidence: 1 },
    verified_at: "2026-11-21T00:00:00.000Z",
    cached: false,
    credits_used: 1,
  });
  expect(listMoves(ctx)).toEqual(["hold 1", "settle 1"]);
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
});

test.each([
  ["a text without an @", "no address", { status: "invalid", reason: "syntax.no_at" }],
  ["a missing mailbox", "invalid@x.com", { status: "invalid" }],
  ["a full mailbox", "full@x.com", { status: "risky" }],
])("a verification of %s costs 1 credit", async (_case, email, result) => {
  const ctx = await given({ balance: 10 });

  const response = await whenVerified(ctx.world, ctx.liveKey, { email });

  expect(response).toMatchObject({ statusCode: 200, data: { ...result, credits_used: 1 } });
  expect(await readCredits(ctx)).toMatchObject({ available: 9, held: 0, spent: 1 });
});

test("a verification costs nothing when the mail server refuses us, and the ledger states the reason", async () => {
  const ctx = await given({ balance: 10 });

  const { data } = await whenVerified(ctx.world, ctx.liveKey, { email: "blocked@x.com" });

  expect(data).toMatchObject({ status: "unknown", reason: "ip_blocked", credits_used: 0 });
  expect(data.message).toContain("Nothing was charged.");
  expect(await readCredits(ctx)).toMatchObject({ available: 10, held: 0, spent: 0 });
  const entries = await send(ctx.world, "GET /v1/account/ledger", { key: ctx.liveKey });
  expect(entries.data.entries).toContainEqual(
    expect.objectContaining({ type: "release", operation: "verify", reason: "not_reached" }),
  );
});

test.each(asRows`
  no option | ${{}} | ${{ ai: true, evidence: false, smtp: true }}
  an empty options object | ${{ options: {} }} | ${{ ai: true, evidence: false, smtp: true }}
  include_ai false | ${{ options: { include_ai: false } }} | ${{ ai: false, evidence: false, smtp: true }}
  include_evidence | ${{ options: { include_evidence: true } }} | ${{ ai: true, evidence: true, smtp: true }}
  deep_verify false | ${{ options: { deep_verify: false } }} | ${{ ai: true, evidence: false, smtp: false }}
  include_activity | ${{ include_activity: true }} | ${{ ai: true, evidence: false, smtp: true }}
  the shortest wait | ${{ options: { timeout_ms: 100 } }} | ${{ ai: true, evidence: false, smtp: true }}
  the longest wait | ${{ options: { timeout_ms: 25_000 } }} | ${{ ai: true, evidence: false, smtp: true }}
`)(
  "a verification with %s returns exactly the requested parts",
  async (_case, requested, parts) => {
    const { world, liveKey } = await given({ balance: 10 });

    const { statusCode, data } = await whenVerified(world, liveKey, {
      email: "ann@x.com",
      ...requested,
    });

    expect(statusCode).toBe(200);
    const { ai, evidence, verification } = data;
    expect({
      ai: ai !== undefined,
      evidence: evidence !== undefined,
      smtp: verification.smtp_check,
    }).toEqual(parts);
  },
);

const WAIT = "options.timeout_ms: must be a whole number of milliseconds, 0 or more";

test.each(asRows<[string, unknown, string]>`
  no body | ${undefined} | body: is required
  a list | [ann@x.com] | body: must be a JSON object
  no address | ${{}} | email: is required
  an address of blanks | ${{ email: " \t" }} | email: must not be empty
  an address that is a number | ${{ email: 5 }} | email: must be string
  an endless address | ${{ email: "x".repeat(1_001) }} | email: must have at most 1000 characters
  an unknown field | ${{ email: "ann@x.com", emails: [] }} | emails: is not a known field
  an unknown option | ${{ email: "ann@x.com", options: { deepVerify: true } }} | options.deepVerify: is not a known field
  options that are a list | ${{ email: "ann@x.com", options: [] }} | options: must be an object
  an option that is a word | ${{ email: "ann@x.com", options: { include_ai: "false" } }} | options.include_ai: must be true or false
  activity that is a number | ${{ email: "ann@x.com", include_activity: 1 }} | include_activity: must be true or false
  a negative wait | ${{ email: "ann@x.com", options: { timeout_ms: -1 } }} | ${WAIT}
  a wait with a fraction | ${{ email: "ann@x.com", options: { timeout_ms: 100.5 } }} | ${WAIT}
  a wait as a text | ${{ email: "ann@x.com", options: { timeout_ms: "500" } }} | ${WAIT}
`)(
  "a verification with %s answers 400, states the field and stores nothing",
  async (_case, body, words) => {
    const ctx = await given({ balance: 10 });
    const before = listStoredItems(ctx);

    const limited = await whenVerified(ctx.world, ctx.liveKey, body);

    expect(limited).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(limited.error.message).toContain(words);
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("a verification of a thousand characters without an @ returns invalid", async () => {
  const { world, liveKey } = await given({ balance: 10 });

  expect(await whenVerified(world, liveKey, { email: "x".repeat(1_000) })).toMatchObject({
    statusCode: 200,
    data: { status: "invalid" },
  });
});

test.each([
  ["without an Idempotency-Key", undefined],
  ["with an Idempotency-Key", "k"],
])(
  "a verification answers 402 %s with the missing credits and stores nothing",
  async (_, keyed) => {
    const ctx = await given({ balance: 0.5 });
    const before = listStoredItems(ctx);

    const limited = await whenVerified(ctx.world, ctx.liveKey, { email: "ann@x.com" }, keyed);

    expect(limited).toMatchObject({
      statusCode: 402,
      error: {
        code: "INSUFFICIENT_CREDITS",
        message: "This costs 1 credit and the account has 0.5. Nothing was charged.",
        details: { needed: 1, available: 0.5 },
      },
    });
    expect(listStoredItems(ctx)).toEqual(before);
    expect(ctx.queue.pending()).toBe(0);
  },
);

test("an Idempotency-Key that was refused with 402 buys after a top-up", async () => {
  const ctx = await given({ balance: 0.5 });
  const { world, liveKey, account } = ctx;
  const body = { email: "ann@x.com" };
  await whenVerified(world, liveKey, body, "k");
  await grantCredits(world, account, credits(1));

  const response = await whenVerified(world, liveKey, body, "k");

  expect(response).toMatchObject({ statusCode: 200, data: { credits_used: 1 } });
});
