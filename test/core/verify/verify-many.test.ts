import { createUnansweredResult } from "@mailproof/core/smtp-pool/results";
import type { Engine } from "@mailproof/core/verify/engine";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import { verifyMany } from "@mailproof/core/verify/verify-many";
import { createLists } from "@mailproof/mail/lists/lists";
import fc from "fast-check";
import { expect, test } from "vitest";
import { START } from "../../app/given.ts";
import { createRandom } from "../../simulation/random.ts";

const MX = { host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] };
const OPTIONS = { deepVerify: true, includeAi: true, includeEvidence: true };

/** An engine whose look-ups take a random time; it counts how many are under way. */
const givenEngine = (seed = 1) => {
  const chance = createRandom(seed);
  let underWay = 0;
  let peak = 0;
  const engine: Engine = {
    ...QUIET_ENGINE,
    lists: createLists(),
    now: () => START,
    findMailHosts: async () => {
      peak = Math.max(peak, ++underWay);
      for (let turns = chance() * 20; turns > 0; turns--) await Promise.resolve();
      underWay--;
      return { kind: "domain_not_found", dnsQueries: [] };
    },
    probe: async () => {
      throw new Error("nothing is asked of a domain that does not exist");
    },
  };
  const world = { engine, sleep: async () => {} };
  return { engine, world, peak: () => peak };
};

test("verifyMany returns results in the order of the input, whichever ends first", async () => {
  const { world } = givenEngine(7);
  const asked = Array.from({ length: 300 }, (_row, n) => `person${n}@d${n % 20}.example`);

  const results = await Array.fromAsync(verifyMany(world, asked, OPTIONS));

  expect(results.map(({ email }) => email)).toEqual(asked);
});

test("verifyMany reads an endless list only as far as the consumer takes results", async () => {
  const { world, peak } = givenEngine();
  let read = 0;
  function* endless() {
    for (;;) yield `person${read++}@example.com`;
  }

  const results = verifyMany(world, endless(), OPTIONS);
  for (let nth = 0; nth < 10; nth++) await results.next();
  await results.return(undefined);

  expect(read).toBeLessThanOrEqual(5_010);
  expect(peak()).toBeLessThanOrEqual(5_000);
});

test("verifyMany returns a verdict for any string, and never throws", async () => {
  const { world } = givenEngine();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "binary", maxLength: 400 }), { maxLength: 5 }),
      async (texts) => {
        const results = await Array.fromAsync(verifyMany(world, texts, OPTIONS));
        expect(results.map(({ status }) => status)).toEqual(texts.map(() => "invalid"));
      },
    ),
  );
});

test("verifyMany returns no results for an empty list", async () => {
  const { world } = givenEngine();

  expect(await Array.fromAsync(verifyMany(world, [], OPTIONS))).toEqual([]);
});

test("verifyMany returns a result while the input is still open", async () => {
  const { world } = givenEngine();
  async function* slow() {
    yield "person1@example.com";
    await new Promise<never>(() => {});
  }

  const first = await verifyMany(world, slow(), OPTIONS).next();

  expect(first.value).toMatchObject({ email: "person1@example.com" });
});

test("verifyMany looks up a repeated address once, and returns a result for each occurrence", async () => {
  const { world } = givenEngine();
  const { promise: allProbed, resolve } = Promise.withResolvers<void>();
  let lookUps = 0;
  const hostsOf: Engine["findMailHosts"] = async (domain) => {
    lookUps++;
    await allProbed;
    return world.engine.findMailHosts(domain);
  };
  function* fifty() {
    for (let n = 0; n < 50; n++) yield "ann@example.com";
    resolve();
  }

  const results = await Array.fromAsync(
    verifyMany({ ...world, engine: { ...world.engine, findMailHosts: hostsOf } }, fifty(), OPTIONS),
  );

  expect(results).toHaveLength(50);
  expect(lookUps).toBe(1);
});

test("verifyMany throws the error of a failing input, and a stuck input blocks no caller", async () => {
  const { world } = givenEngine();
  async function* failing() {
    yield "person1@example.com";
    throw new Error("the file is gone");
  }
  async function* stuck() {
    yield "person1@example.com";
    await new Promise<never>(() => {});
  }

  const failed = Array.fromAsync(verifyMany(world, failing(), OPTIONS));
  await expect(failed).rejects.toThrow("the file is gone");
  const left = verifyMany(world, stuck(), OPTIONS);
  await left.next();

  expect(await left.return(undefined)).toEqual({ done: true, value: undefined });
});

test("verifyMany verifies an address again when its provider's backoff ends", async () => {
  const { world } = givenEngine();
  const comeBack = {
    at: new Date(START.getTime() + 30_000).toISOString(),
    ticket: { queue: "google all", position: 7, draw: 0 },
    reason: "rate_limited",
  };
  const asked: unknown[] = [];
  const waits: number[] = [];
  const engine: Engine = {
    ...world.engine,
    findMailHosts: async () => ({ kind: "hosts", hosts: [MX], implicit: false, dnsQueries: [] }),
    probe: async ({ recipient, ticket }) => {
      asked.push(ticket);
      const result = createUnansweredResult(recipient);
      return asked.length === 1 ? { ...result, comeBack } : result;
    },
  };
  const sleep = async (ms: number) => void waits.push(ms);

  await Array.fromAsync(verifyMany({ engine, sleep }, ["ann@example.com"], OPTIONS));

  expect(asked).toEqual([undefined, comeBack.ticket]);
  expect(waits).toEqual([30_000]);
});
