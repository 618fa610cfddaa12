import { withDeadline } from "@mailproof/mail/dns/deadline";
import type { Dns } from "@mailproof/mail/dns/dns";
import { expect, test } from "vitest";
import { createZoneDns } from "../../zone.ts";

const SILENT: Dns = () => new Promise(() => {});
const TIMEOUT = { kind: "timeout" };

/** A clock that a test moves by hand, and sleepers that it wakes. */
const givenBudget = (dns: Dns, questionsMax = 100) => {
  let ms = Date.UTC(2026, 10, 21);
  let sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  const sleep = (forMs: number) =>
    new Promise<void>((wake) => sleepers.push({ atMs: ms + forMs, wake }));
  const later = (passedMs: number) => {
    ms += passedMs;
    for (const { wake } of sleepers.filter(({ atMs }) => atMs <= ms)) wake();
    sleepers = sleepers.filter(({ atMs }) => atMs > ms);
  };
  const hurried = withDeadline(dns, {
    budgetMs: 5000,
    questionsMax,
    now: () => new Date(ms),
    sleep,
  });
  return { hurried, later, sleepers: () => sleepers.length };
};

const NAMES = createZoneDns({ "example.com": { A: ["8.8.8.8"] } });

test("an answer in time is the answer", async () => {
  const { hurried, later } = givenBudget(NAMES);
  later(4999);

  expect(await hurried("A", "example.com")).toEqual({ kind: "ok", records: ["8.8.8.8"] });
});

test("who waits when the time is over waits no longer, however late he asked", async () => {
  const { hurried, later } = givenBudget(SILENT);
  const first = hurried("A", "a.test");
  later(4000);
  const second = hurried("A", "b.test");
  later(1000);

  expect(await Promise.all([first, second])).toEqual([TIMEOUT, TIMEOUT]);
});

test("after its time nothing is asked any more", async () => {
  const dns = createZoneDns({ "example.com": { A: ["8.8.8.8"] } });
  const { hurried, later } = givenBudget(dns);
  later(5000);

  expect(await hurried("A", "example.com")).toEqual(TIMEOUT);
  expect(dns.calls).toEqual([]);
});

test("a question too many is not asked", async () => {
  const dns = createZoneDns({ "example.com": { A: ["8.8.8.8"] } });
  const { hurried } = givenBudget(dns, 2);

  const outcomes = [
    await hurried("A", "example.com"),
    await hurried("MX", "example.com"),
    await hurried("A", "example.com"),
  ];

  expect(outcomes.map(({ kind }) => kind)).toEqual(["ok", "nodata", "timeout"]);
  expect(dns.calls).toHaveLength(2);
});

test("a hundred questions need one sleep, and none need none", async () => {
  const { hurried, sleepers } = givenBudget(NAMES);
  expect(sleepers()).toBe(0);

  await Promise.all(Array.from({ length: 100 }, () => hurried("A", "example.com")));

  expect(sleepers()).toBe(1);
});
