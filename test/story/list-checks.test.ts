import type { AppWorld } from "@mailproof/core/app-world";
import { createCheckWrites } from "@mailproof/core/deliverability/items";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { send, whenChecked } from "../send.ts";

const whenListed = (world: AppWorld, key: string, query: Readonly<Record<string, string>> = {}) =>
  send(world, "GET /v1/deliverability/checks", { key, query });

/** So many checks, a second apart. */
const givenChecks = async (count: number) => {
  const ctx = await given();
  for (let n = 0; n < count; n++) {
    const [check] = createCheckWrites(
      {
        id: `check-${n}`,
        owner: ctx.account,
        domain: `x${n}.com`,
        sendingIp: null,
        score: 90,
        grade: "A",
        confidence: "high",
        checkedAt: new Date(Date.UTC(2026, 10, 20, 0, 0, n)).toISOString(),
        expiresAt: ctx.world.now().getTime() / 1000 + 3_600,
      },
      {} as never,
    );
    if (check) await ctx.table.write(check);
  }
  return ctx;
};

test("200: newest first, twenty unless asked otherwise, with what there is in all", async () => {
  const { world, liveKey } = await givenChecks(25);

  const { statusCode, data } = await whenListed(world, liveKey);

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ count: 20, total: 25, truncated: false });
  expect(data.checks).toHaveLength(20);
  expect(data.checks[0]).toEqual({
    check_id: "check-24",
    domain: "x24.com",
    domain_unicode: "x24.com",
    sending_ip: null,
    score: 90,
    grade: "A",
    confidence: "high",
    checked_at: "2026-11-20T00:00:24.000Z",
  });
});

test.each([
  ["1", 1],
  ["100", 100],
  ["101", 100],
  ["9999999", 100],
])("a limit of %s shows %i", async (limit, count) => {
  const { world, liveKey } = await givenChecks(105);

  expect((await whenListed(world, liveKey, { limit })).data).toMatchObject({ count, total: 105 });
});

test.each(["x7.com", "X7.com", "https://x7.com/path", "x7.com."])(
  "domain=%s lists the checks of that domain alone",
  async (domain) => {
    const { world, liveKey } = await givenChecks(25);

    const { data } = await whenListed(world, liveKey, { domain });

    expect(data).toMatchObject({ count: 1, total: 1, truncated: false });
    expect(data.checks).toMatchObject([{ check_id: "check-7", domain: "x7.com" }]);
  },
);

test("a domain is found behind more checks of others than a page shows", async () => {
  const { world, liveKey } = await givenChecks(250);

  const { data } = await whenListed(world, liveKey, { domain: "x0.com", limit: "1" });

  expect(data).toMatchObject({ count: 1, total: 1 });
});

test("a domain that was never checked has an empty list, and no domain is 400", async () => {
  const { world, liveKey } = await givenChecks(1);

  expect((await whenListed(world, liveKey, { domain: "y.com" })).data).toMatchObject({
    checks: [],
    total: 0,
  });
  expect(await whenListed(world, liveKey, { domain: "no domain" })).toMatchObject({
    statusCode: 400,
    error: { code: "INVALID_REQUEST", details: [{ field: "domain" }] },
  });
});

test("at most twenty pages are read, and the response states when there is more", async () => {
  const fullHistory = await givenChecks(2_000);
  const more = await givenChecks(2_001);

  expect((await whenListed(fullHistory.world, fullHistory.liveKey)).data).toMatchObject({
    total: 2_000,
    truncated: false,
  });
  const { data } = await whenListed(more.world, more.liveKey);
  expect(data).toMatchObject({ total: 2_000, truncated: true });
  expect(data.checks[0].check_id).toBe("check-2000");
});

test("a cached answer is no check of its own, and what was refunded is none", async () => {
  const { world, liveKey } = await given({ balance: 30 });
  await whenChecked(world, liveKey);
  await whenChecked(world, liveKey);
  await whenChecked(world, liveKey, { domain: "error.com" });

  expect((await whenListed(world, liveKey)).data).toMatchObject({ count: 1, total: 1 });
});
