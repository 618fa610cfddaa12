import { endpoints } from "@mailproof/api/endpoints";
import type { Table } from "@mailproof/core/table";
import { expect, test } from "vitest";
import { given } from "../given.ts";
import { storedIn } from "../ledger.ts";
import { send, whenVerified } from "../send.ts";

const paid = endpoints.filter(({ price }) => price !== null).map(({ route }) => route);

test("there are paid operations", () => {
  expect(paid).toEqual(expect.arrayContaining(["POST /v1/verify", "POST /v1/verify/batch"]));
});

test.each(paid)(
  "%s is refused under pressure before anything is read or written",
  async (route) => {
    const house = await given({ balance: 10 });
    const before = storedIn(house);
    const world = { ...house.world, pressure: () => "event_loop_late" as const, table: unreadable };

    const refused = await send(world, route, { key: house.liveKey, body: {} });

    expect(refused.statusCode).toBe(503);
    expect(refused.headers["retry-after"]).toBe("5");
    expect(refused.error).toMatchObject({
      code: "UNAVAILABLE",
      money: "nothing_charged",
      retryable: true,
    });
    expect(storedIn(house)).toEqual(before);
    // It would be one line for each of thousands: the log says when pressure begins and when it ends.
    expect(house.logged).toEqual([]);
  },
);

test.each(["GET /health", "GET /v1/account", "GET /v1/jobs"])(
  "%s goes on under pressure",
  async (route) => {
    const { world, liveKey } = await given({ balance: 10 });
    const pressed = { ...world, pressure: () => "memory_short" as const };

    expect((await send(pressed, route, { key: liveKey })).statusCode).toBe(200);
  },
);

test("what was refused under pressure is done when it is over, under the same Idempotency-Key", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const body = { email: "ann@example.com" };
  const pressed = { ...world, pressure: () => "event_loop_late" as const };
  const calm = { ...world, pressure: () => null };

  const refused = await whenVerified(pressed, liveKey, body, "key-1");
  const done = await whenVerified(calm, liveKey, body, "key-1");

  expect(refused.statusCode).toBe(503);
  expect(done.statusCode).toBe(200);
  expect(done.data).toMatchObject({ credits_used: 1 });
});

const away = async (): Promise<never> => {
  throw new Error("the table was asked");
};
const unreadable: Table = { get: away, query: away, write: away, transact: away };

/** The plan allows so many requests in a minute; all of them are made. */
const givenLimited = async () => {
  const house = await given({ plan: "free" });
  const { world, liveKey: key } = house;
  const { headers } = await send(world, "GET /v1/account", { key });
  const left = Number(headers["x-ratelimit-remaining"]);
  for (let n = 0; n <= left; n++) await send(world, "GET /v1/account", { key });
  return house;
};

test("a request over the limit is refused without a read, and says the same as with one", async () => {
  const { world, liveKey: key, later } = await givenLimited();

  const refused = await send({ ...world, table: unreadable }, "GET /v1/account", { key });
  later(60_000);
  const afterwards = await send(world, "GET /v1/account", { key });

  expect(refused.statusCode).toBe(429);
  expect(refused.headers).toMatchObject({ "x-ratelimit-remaining": "0", "retry-after": "60" });
  expect(refused.error).toMatchObject({ code: "RATE_LIMITED", money: "nothing_charged" });
  expect(afterwards.statusCode).toBe(200);
});

test("another key is not refused for the one that is over its limit", async () => {
  const { world, testKey } = await givenLimited();

  expect((await send(world, "GET /v1/account", { key: testKey })).statusCode).toBe(200);
});

test("a clock that is set back does not keep a caller out", async () => {
  const { world, liveKey: key, jump } = await givenLimited();

  jump(-3_600_000);

  expect((await send(world, "GET /v1/account", { key })).statusCode).toBe(200);
});
