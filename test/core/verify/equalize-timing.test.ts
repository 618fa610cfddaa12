import { equalizeTiming } from "@mailproof/core/verify/equalize-timing";
import type { Dns } from "@mailproof/mail/dns/dns";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";
import { createVirtualTime } from "../../app/virtual-time.ts";

const DAY_MS = 24 * 3_600_000;

/** The first answer takes 100 ms, and each after it 1 ms. */
const setup = (kind: "ok" | "servfail" = "ok") => {
  const { now, later, jump, sleep } = createVirtualTime(START);
  const answered = new Map<string, Promise<void>>();
  const dns: Dns = async (_, name) => {
    const before = answered.get(name);
    const first = before ?? sleep(100);
    answered.set(name, first);
    await first;
    if (before) await sleep(1);
    return (kind === "ok" ? { kind, records: [] } : { kind }) as never;
  };
  const dnsOf = equalizeTiming({ dns, now, sleep });
  const msFor = async (account: string, name = "example.com") => {
    const startedMs = now().getTime();
    await dnsOf(account)("A", name);
    return now().getTime() - startedMs;
  };
  return { msFor, later, jump };
};

test("an account's first look-up takes as long as the first look-up of all accounts", async () => {
  const { msFor } = setup();

  expect(await msFor("one")).toBe(100);
  expect(await msFor("other")).toBe(100);
  expect(await msFor("third", "EXAMPLE.com")).toBe(100);
});

test("an account's own earlier look-up returns as fast as the cache", async () => {
  const { msFor } = setup();
  await msFor("one");
  await msFor("other");

  expect(await msFor("one")).toBe(1);
  expect(await msFor("other")).toBe(1);
});

test("an account that asks during another account's look-up waits as long", async () => {
  const { msFor, later } = setup();

  const one = msFor("one");
  later(60);
  const other = msFor("other");

  expect(await one).toBe(100);
  expect(await other).toBe(100);
});

test("an account's first look-up returns as fast as the cache a day after another account's", async () => {
  const { msFor, later } = setup();
  await msFor("one");

  later(DAY_MS);

  expect(await msFor("other")).toBe(1);
});

test("a second caller does not wait for an already known fault", async () => {
  const { msFor } = setup("servfail");
  await msFor("one");

  expect(await msFor("other")).toBe(1);
});

test("a clock that jumps delays no caller for long", async () => {
  const { msFor, jump } = setup();
  const one = msFor("one");
  jump(30 * DAY_MS);
  await one;

  expect(await msFor("other")).toBeLessThanOrEqual(5_000);
});
