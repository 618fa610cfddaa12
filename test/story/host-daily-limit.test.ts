import type { AppWorld } from "@mailproof/core/app-world";
import { HOST_DAILY_LIMIT } from "@mailproof/core/verify/result";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { type House, jobIn, whenBatched } from "../jobs.ts";
import { creditsOf, movesOf, thenInOrder } from "../ledger.ts";
import { whenFound, whenVerified } from "../send.ts";
import { whenReconciled, whenWorked } from "../working.ts";

// A mail host that was asked enough for one day: what callers read of it, and that it costs nothing.

/** Every recipient is beyond the limit but those of good.com. */
const limited = (house: House): House => {
  const { engine } = house.world;
  const probe: AppWorld["engine"]["probe"] = async (question) => {
    const answer = await engine.probe(question);
    if (question.domain === "good.com") return answer;
    const why = { reason: HOST_DAILY_LIMIT, rule: HOST_DAILY_LIMIT, retry: null, aboutUs: true };
    const finding = { verdict: "unknown", confidence: 1, ...why } as const;
    return { ...answer, finding, reply: null, catchAll: "not_tested" };
  };
  return { ...house, world: { ...house.world, engine: { ...engine, probe } } };
};

test("an address beyond the limit is unknown, says so, and costs nothing", async () => {
  const house = limited(await given({ balance: 10 }));

  const { data } = await whenVerified(house.world, house.liveKey, { email: "ann@x.com" });

  expect(data).toMatchObject({
    status: "unknown",
    reason: "host_daily_limit",
    checks_skipped: ["smtp_check", "mailbox_exists", "catch_all"],
    credits_used: 0,
    message:
      "The mail server has reached its limit for today and was not asked, so smtp_check, mailbox_exists and catch_all are not known. Try again tomorrow (UTC). Nothing was charged.",
  });
  expect(movesOf(house)).toEqual(["hold 1", "release 1"]);
  await thenInOrder(house);
});

test("it is asked about again, and not answered from the cache", async () => {
  const before = await given({ balance: 10 });
  await whenVerified(limited(before).world, before.liveKey, { email: "ann@x.com" });

  const { data } = await whenVerified(before.world, before.liveKey, { email: "ann@x.com" });

  expect(data).toMatchObject({ status: "valid", cached: false, credits_used: 1 });
});

test("rows of a batch beyond the limit are unknown at once and cost nothing", async () => {
  const house = limited(await given({ balance: 10 }));
  await whenBatched(house.world, house.liveKey, { emails: ["ann@x.com", "bo@good.com"] });

  await whenWorked(house);
  await whenReconciled(house);

  const job = await jobIn(house);
  expect(job).toMatchObject({ status: "completed", progress: { unknown: 1, valid: 1 } });
  expect(await creditsOf(house)).toMatchObject({ held: 0, spent: 1 });
  await thenInOrder(house);
});

test("a search beyond the limit is 503 and refunded", async () => {
  const house = limited(await given({ balance: 10 }));

  const told = await whenFound(house.world, house.liveKey, {
    first_name: "Ann",
    last_name: "Lee",
    domain: "example.com",
  });

  expect(told.statusCode).toBe(503);
  expect(await creditsOf(house)).toMatchObject({ available: 10, held: 0, spent: 0 });
  await thenInOrder(house);
});
