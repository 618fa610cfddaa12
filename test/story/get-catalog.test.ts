import { expect, test } from "vitest";
import { givenWorld } from "../given.ts";
import { send } from "../send.ts";

test("the catalog needs no key: plans, packs and prices are 200", async () => {
  const { world } = givenWorld();

  const { statusCode, data } = await send(world, "GET /v1/catalog");

  expect(statusCode).toBe(200);
  expect(data.plans).toContainEqual({
    id: "free",
    price_cents_per_month: 0,
    max_addresses_per_job: 1_000,
    requests_per_minute: 60,
    account_requests_per_minute: 180,
    retention_days: 7,
  });
  expect(data.credits_per_operation).toMatchObject({
    verify: 1,
    verify_from_cache: 0.5,
    find: 5,
    deliverability_check: 10,
    mail_test: 2,
  });
});

test("a larger pack never costs more per credit", async () => {
  const { world } = givenWorld();
  const { data } = await send(world, "GET /v1/catalog");
  const prices = data.credit_packs.map((pack: any) => pack.price_cents / pack.credits);

  expect(prices).toEqual(prices.toSorted((a: number, b: number) => b - a));
});
