import { createResolverPool } from "@mailproof/net/resolver-pool";
import { createZoneRateLimiter, toZone, ZONE_RATE_LIMITS } from "@mailproof/net/zone-rate-limit";
import { expect, onTestFinished, test } from "vitest";
import { serveZone } from "../servers/dns-server.ts";

// How many questions about one zone go out, on a clock that stands still: `waitedMs` is how long each had to wait.

const CEILINGS = {
  ordinary: { perSecond: 10, burst: 5 },
  wide: { perSecond: 100, burst: 50 },
  wideZones: new Set(["outlook.com"]),
};

const setup = (ceilings = CEILINGS) => {
  let waitedMs: number[] = [];
  const ceiling = createZoneRateLimiter(ceilings, {
    nowMs: () => 0,
    sleep: async (ms) => void waitedMs.push(ms),
  });
  const askAll = async (names: readonly string[]) => {
    waitedMs = [];
    const mayGo = await Promise.all(names.map((name) => ceiling.wait(name)));
    return { waitedMs, refused: mayGo.filter((may) => !may).length };
  };
  return { askAll };
};

const below = (zone: string, count: number) =>
  Array.from({ length: count }, (_, n) => `r${n}.${zone}`);

test("above the burst, questions below one domain wait for their turn", async () => {
  const { askAll } = setup();

  const { waitedMs } = await askAll(below("example.com", 9));

  expect(waitedMs).toEqual([100, 200, 300]);
});

test("a flood at one domain makes no other domain wait", async () => {
  const { askAll } = setup();
  await askAll(below("flooded.com", 100));

  expect(await askAll(["other.com", "a.co.uk", "b.co.uk"])).toEqual({ waitedMs: [], refused: 0 });
});

test("a question whose turn is too far off is refused instead of waiting for ever", async () => {
  const { askAll } = setup();

  const { waitedMs, refused } = await askAll(below("example.com", 1_000));

  expect(Math.max(...waitedMs)).toBeLessThanOrEqual(10_000);
  expect(refused).toBeGreaterThan(800);
});

test("a provider that names a host for each customer has a higher ceiling", async () => {
  const { askAll } = setup();

  const { waitedMs } = await askAll(below("mail.protection.outlook.com", 50));

  expect(waitedMs).toEqual([]);
});

test.each([
  ["example.com", "example.com"],
  ["a.b.Example.COM.", "example.com"],
  ["a.example.co.uk", "example.co.uk"],
  ["a.example.com.br", "example.com.br"],
  ["a.b.example.de", "example.de"],
  ["com", "com"],
  ["4.3.2.1.in-addr.arpa", "2.1.in-addr.arpa"],
  ["5.4.3.2.1.in-addr.arpa", "2.1.in-addr.arpa"],
  ["a.lab.test", "lab.test"],
])("%s belongs to the zone %s", (name, zone) => {
  expect(toZone(name)).toBe(zone);
});

test("with the limits as they are, one check of a domain waits for nothing", async () => {
  const { askAll } = setup(ZONE_RATE_LIMITS as typeof CEILINGS);

  expect(await askAll(below("example.com", 250))).toEqual({ waitedMs: [], refused: 0 });
});

test("with the limits as they are, no second sees more than the rate and one burst", async () => {
  const { askAll } = setup(ZONE_RATE_LIMITS as typeof CEILINGS);

  const { waitedMs } = await askAll(below("example.com", 5_000));

  const inFirstSecond = 5_000 - waitedMs.filter((ms) => ms >= 1_000).length;
  expect(waitedMs.filter((ms) => ms < 1_000).length).toBeLessThanOrEqual(100);
  expect(inFirstSecond).toBeGreaterThan(0);
});

test("a resolver's client asks no more about one domain than its ceiling lets through", async () => {
  const server = await serveZone({
    "flooded.com": { A: ["8.8.8.8"] },
    "other.com": { A: ["8.8.8.8"] },
  });
  // A question in twenty seconds: the turn of a fourth is further off than a question waits.
  const ordinary = { perSecond: 0.05, burst: 2 };
  const dns = createResolverPool({
    servers: [server.address],
    packetsPerSecond: 10_000,
    zoneLimits: { ...CEILINGS, ordinary },
  });
  onTestFinished(async () => {
    dns.close();
    await server.close();
  });

  const flood = await Promise.all(below("flooded.com", 50).map((name) => dns("A", name)));
  const other = await dns("A", "other.com");

  expect(other).toEqual({ kind: "ok", records: ["8.8.8.8"] });
  expect(flood.filter(({ kind }) => kind === "timeout")).toHaveLength(47);
  expect(server.questions.filter((question) => question.endsWith("flooded.com"))).toHaveLength(3);
});
