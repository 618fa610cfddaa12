import { cacheDns } from "@mailproof/mail/dns/cache";
import { withDeadline } from "@mailproof/mail/dns/deadline";
import type { Dns } from "@mailproof/mail/dns/dns";
import { expect, test } from "vitest";
import { createZoneDns } from "../../app/zone.ts";

const SECOND = 1000;

/** What one name with one address weighs: the entry, its key "A 0.test" and its record "8.8.8.8". */
const ONE_BYTES = 500 + 8 + 64 + 7;

const givenCache = ({ dns, bytesMax = 1e6 }: { dns?: Dns; bytesMax?: number } = {}) => {
  let ms = Date.UTC(2026, 10, 21);
  const inner = createZoneDns({
    "example.com": { MX: ["10 mx.example.com"], A: ["8.8.8.8"] },
    "servfail.test": "SERVFAIL",
    "refused.test": "REFUSED",
    "silent.test": "TIMEOUT",
    ...Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${n}.test`, { A: ["8.8.8.8"] }])),
  });
  const cache = cacheDns(dns ?? inner, { now: () => new Date(ms), bytesMax });
  const later = (passedMs: number) => void (ms += passedMs);
  return { cache, calls: inner.calls, later };
};

test("the cache sends a query once, and returns its answer again and again", async () => {
  const { cache, calls } = givenCache();

  const first = await cache("MX", "example.com");
  const second = await cache("MX", "Example.COM");

  expect(first).toEqual({ kind: "ok", records: [{ priority: 10, exchange: "mx.example.com" }] });
  expect(second).toEqual(first);
  expect(calls).toEqual(["MX example.com"]);
});

test("the cache sends another query for another record type", async () => {
  const { cache, calls } = givenCache();

  await cache("MX", "example.com");
  await cache("A", "example.com");

  expect(calls).toEqual(["MX example.com", "A example.com"]);
});

test("a thousand concurrent callers share one query", async () => {
  const { cache, calls } = givenCache();

  const outcomes = await Promise.all(Array.from({ length: 1000 }, () => cache("A", "example.com")));

  expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["ok"]));
  expect(calls).toHaveLength(1);
});

test.each([
  ["records", "A", "example.com", 300 * SECOND],
  ["nodata", "TXT", "example.com", 60 * SECOND],
  ["nxdomain", "A", "gone.test", 60 * SECOND],
  ["servfail", "A", "servfail.test", 5 * SECOND],
  ["refused", "A", "refused.test", 5 * SECOND],
  ["a timeout", "A", "silent.test", 5 * SECOND],
] as const)(
  "the cache keeps an outcome for exactly its time: %s",
  async (_, type, name, cachedMs) => {
    const { cache, calls, later } = givenCache();
    await cache(type, name);

    later(cachedMs - 1);
    await cache(type, name);
    expect(calls).toHaveLength(1);

    later(1);
    await cache(type, name);
    expect(calls).toHaveLength(2);
  },
);

test("the cache keeps an outcome from its arrival on, and not from the query", async () => {
  const answers: (() => void)[] = [];
  const questions: string[] = [];
  const slow: Dns = (_, name) => {
    questions.push(name);
    return new Promise((resolve) => answers.push(() => resolve({ kind: "nxdomain" })));
  };
  const { cache, later } = givenCache({ dns: slow });

  const first = cache("A", "a.test");
  later(1000 * SECOND);
  const second = cache("A", "a.test");
  answers[0]?.();
  await Promise.all([first, second]);
  later(59 * SECOND);
  await cache("A", "a.test");

  expect(questions).toEqual(["a.test"]);
});

test("the cache drops the entry that was not used for longest", async () => {
  const { cache, calls } = givenCache({ bytesMax: 6 * ONE_BYTES });
  const askAll = async (...names: string[]) => {
    for (const name of names) await cache("A", name);
  };

  await askAll("0.test", "1.test", "2.test", "0.test", "3.test");
  expect(calls).toHaveLength(4);

  await askAll("0.test", "2.test", "3.test");
  expect(calls).toHaveLength(4);

  await askAll("4.test", "0.test", "2.test", "3.test");
  expect(calls).toHaveLength(5);

  await askAll("1.test");
  expect(calls).toHaveLength(6);
});

test("the cache frees as much space as a large answer takes", async () => {
  const answers: Readonly<Record<string, readonly string[]>> = {
    "large.test": Array.from({ length: 10 }, () => "x".repeat(100)),
  };
  const questions: string[] = [];
  const inner = (async (_: string, name: string) => {
    questions.push(name);
    return { kind: "ok", records: answers[name] ?? ["8.8.8.8"] };
  }) as unknown as Dns;
  const { cache } = givenCache({ dns: inner, bytesMax: 12 * ONE_BYTES });
  const askAll = async (...names: string[]) => {
    for (const name of names) await cache("A", name);
  };

  await askAll("0.test", "1.test", "2.test", "3.test", "4.test", "5.test", "large.test");
  expect(questions.splice(0)).toHaveLength(7);

  await askAll("5.test", "4.test", "large.test");
  expect(questions).toEqual([]);

  await askAll("3.test", "0.test");
  expect(questions).toEqual(["0.test"]);
});

test("the cache returns an answer larger than its space, and does not keep it", async () => {
  const { cache, calls } = givenCache({ bytesMax: ONE_BYTES - 1 });

  expect(await cache("A", "0.test")).toEqual({ kind: "ok", records: ["8.8.8.8"] });
  await cache("A", "0.test");

  expect(calls).toEqual(["A 0.test", "A 0.test"]);
});

test("an entry that the cache dropped in flight does not return with its answer", async () => {
  const { cache, calls } = givenCache({ bytesMax: 2 * ONE_BYTES });

  await Promise.all(Array.from({ length: 10 }, (_, n) => cache("A", `${n}.test`)));
  await cache("A", "9.test");
  expect(calls).toHaveLength(10);

  await cache("A", "0.test");
  expect(calls).toHaveLength(11);
});

test("the cache asks a port that throws again", async () => {
  let attempts = 0;
  const broken: Dns = async () => {
    attempts += 1;
    if (attempts === 1) throw new Error("the port is broken");
    return { kind: "nodata" };
  };
  const { cache } = givenCache({ dns: broken });

  await expect(cache("A", "a.test")).rejects.toThrow("the port is broken");
  expect(await cache("A", "a.test")).toEqual({ kind: "nodata" });
});

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

test("the DNS budget returns an answer that arrives in time", async () => {
  const { hurried, later } = givenBudget(NAMES);
  later(4999);

  expect(await hurried("A", "example.com")).toEqual({ kind: "ok", records: ["8.8.8.8"] });
});

test("a caller stops waiting when the time is over, however late it asked", async () => {
  const { hurried, later } = givenBudget(SILENT);
  const first = hurried("A", "a.test");
  later(4000);
  const second = hurried("A", "b.test");
  later(1000);

  expect(await Promise.all([first, second])).toEqual([TIMEOUT, TIMEOUT]);
});

test("the DNS budget sends no query after its time", async () => {
  const dns = createZoneDns({ "example.com": { A: ["8.8.8.8"] } });
  const { hurried, later } = givenBudget(dns);
  later(5000);

  expect(await hurried("A", "example.com")).toEqual(TIMEOUT);
  expect(dns.calls).toEqual([]);
});

test("the DNS budget sends no query beyond its number", async () => {
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

test("the DNS budget sleeps once for a hundred queries, and never for none", async () => {
  const { hurried, sleepers } = givenBudget(NAMES);
  expect(sleepers()).toBe(0);

  await Promise.all(Array.from({ length: 100 }, () => hurried("A", "example.com")));

  expect(sleepers()).toBe(1);
});
