import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { listMoves, readCredits } from "../app/ledger.ts";
import { whenVerified } from "../app/send.ts";

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
