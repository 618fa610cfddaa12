import { readGauges } from "@mailproof/core/background/gauges";
import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { createCanaries, listCanaryCounts } from "@mailproof/core/verify/canaries";
import type { Engine } from "@mailproof/core/verify/engine";
import { createProviderBeliefs } from "@mailproof/core/verify/provider-beliefs";
import { QUIET_ENGINE } from "@mailproof/core/verify/quiet-engine";
import { verify } from "@mailproof/core/verify/verify";
import { formatProviders } from "@mailproof/local/cli/report-commands";
import { createLists } from "@mailproof/mail/lists/lists";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import { expect, test } from "vitest";
import { withTable } from "../../app/faulty-worlds.ts";
import { createRandom } from "../../simulation/random.ts";
import { givenSqliteWorld } from "../../things/calibration.ts";

// Goal: a provider that begins to accept every recipient is soon not believed, and is believed again when it refuses.
// Method: a Gmail simulated by a function, SQLite, and chance from a seed.

const REAL = /<real/;
const OPTIONS = { deepVerify: true, includeAi: true, includeEvidence: true };
const HOST = { host: "gmail-smtp-in.l.google.com", priority: 5, ips: ["192.0.2.1"] };

type Context = ReturnType<typeof givenSqliteWorld>;

/** Several processes may share one context: each has an engine of its own. */
const givenProcess = (
  { world, logged }: Context,
  gmail: { acceptsUnknown: boolean },
  { seed = 1 } = {},
) => {
  const asked: string[] = [];
  const connect: SmtpConnect = async () => {
    let next = "220 mx.google.com ESMTP";
    return {
      send: (line) => {
        if (line.startsWith("RCPT")) asked.push(line);
        const isRefused = line.startsWith("RCPT") && !REAL.test(line) && !gmail.acceptsUnknown;
        next = isRefused ? "550 5.1.1 The email account does not exist" : "250 ok";
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => undefined,
    };
  };
  const random = createRandom(seed);
  const beliefs = createProviderBeliefs({ ...world, random });
  const engine: Engine = {
    ...QUIET_ENGINE,
    findMailHosts: async () => ({ kind: "hosts", hosts: [HOST], implicit: false, dnsQueries: [] }),
    probe: createProbe({
      ...world,
      random,
      connect,
      catchAllCache: createCatchAllCache(world.table, world.now),
      canaries: beliefs.canaries,
      smtp: { helo: "probe.example", from: "probe@example.org", port: 25 },
    }),
    lists: createLists(),
    now: world.now,
    beliefs,
  };
  const verifyOne = (local: string, account = "acc_1") =>
    verify(engine, `${local}@gmail.com`, {
      ...OPTIONS,
      requester: { account, priority: "caller" },
    });
  return { engine, asked, verifyOne, logged };
};

const countRandom = (asked: readonly string[]) => asked.filter((line) => !REAL.test(line)).length;

/** Verifies one address after the other until a result matches. Returns how many did not. */
const countUntil = async (
  verifyOne: ReturnType<typeof givenProcess>["verifyOne"],
  status: string,
  most = 4_000,
): Promise<number> => {
  for (let n = 0; n < most; n++) if ((await verifyOne(`real${n}`)).status === status) return n;
  throw new Error(`none of ${most} was ${status}`);
};

test("one recipient in 200 brings a random one, and a refusal of the random one confirms the provider's policy", async () => {
  const ctx = givenSqliteWorld();
  const { asked, verifyOne } = givenProcess(ctx, { acceptsUnknown: false });

  const statuses = new Set<string>();
  for (let n = 0; n < 2_000; n++) statuses.add((await verifyOne(`real${n}`)).status);

  expect([...statuses]).toEqual(["valid"]);
  expect(countRandom(asked)).toBeGreaterThan(3);
  expect(countRandom(asked)).toBeLessThan(20);
  const [counts] = await listCanaryCounts(ctx.world.table);
  expect(counts).toMatchObject({ sk: "google", asked: countRandom(asked), refused: counts?.asked });
  expect((await readGauges(ctx.world)).providersInDoubt).toBe(0);
});

test("no address is valid after the first accepted canary, until the provider refuses ten in a row", async () => {
  const ctx = givenSqliteWorld();
  const gmail = { acceptsUnknown: true };
  const { asked, verifyOne } = givenProcess(ctx, gmail);

  await countUntil(verifyOne, "risky");
  const after = [];
  for (let n = 0; n < 300; n++) after.push(await verifyOne(`real.after${n}`));

  expect(new Set(after.map(({ status, reason }) => `${status} ${reason}`))).toEqual(
    new Set(["risky provider_accepts_unknown"]),
  );
  expect((await readGauges(ctx.world)).providersInDoubt).toBe(1);
  expect(ctx.logged).toContainEqual({
    event: "provider_accepts_unknown",
    fields: { provider: "google" },
  });
  expect(formatProviders(await listCanaryCounts(ctx.world.table), ctx.world.now())).toMatchObject({
    providers: [
      { provider: "google", refuses_unknown_recipients: "in_doubt", refusals_until_trusted: 10 },
    ],
  });

  gmail.acceptsUnknown = false;
  const before = countRandom(asked);
  const recovered = await countUntil(verifyOne, "valid");
  const [counts] = await listCanaryCounts(ctx.world.table);
  expect(countRandom(asked) - before).toBe(10);
  // Ten canaries at one in ten.
  expect(recovered).toBeLessThan(300);
  expect(counts).toMatchObject({ inARow: 10 });
  expect(ctx.logged.at(-1)?.event).toBe("provider_refuses_unknown");
  expect((await readGauges(ctx.world)).providersInDoubt).toBe(0);
});

test("a provider that accepts every recipient gets some 200 valid results before a canary detects it", async () => {
  const counts: number[] = [];
  for (let seed = 0; seed < 25; seed++) {
    const { verifyOne } = givenProcess(givenSqliteWorld(seed), { acceptsUnknown: true }, { seed });
    counts.push(await countUntil(verifyOne, "risky"));
  }
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;

  // Geometric: 199 on average, as much from run to run; over 25 runs its error is 40.
  expect(mean).toBeGreaterThan(199 - 3 * 40);
  expect(mean).toBeLessThan(199 + 3 * 40);
});

test("the recipients in the session of an accepted canary become risky, too", async () => {
  const { verifyOne } = givenProcess(givenSqliteWorld(), { acceptsUnknown: true });
  const answers = await Promise.all(Array.from({ length: 2_000 }, (_, n) => verifyOne(`real${n}`)));

  const byStatus = Map.groupBy(answers, ({ status }) => status);
  expect([...byStatus.keys()].toSorted()).toEqual(["risky", "valid"]);
  expect(byStatus.get("risky")?.length).toBeGreaterThan(1_000);
});

test("another process learns of an accepted canary after a minute, and a new process at once", async () => {
  const ctx = givenSqliteWorld();
  const gmail = { acceptsUnknown: true };
  const first = givenProcess(ctx, gmail);
  const second = givenProcess(ctx, gmail, { seed: 5 });
  expect((await second.verifyOne("real")).status).toBe("valid");
  await countUntil(first.verifyOne, "risky");

  ctx.later(60_000);

  expect((await second.verifyOne("real")).status).toBe("risky");
  expect((await givenProcess(ctx, gmail, { seed: 6 }).verifyOne("real")).status).toBe("risky");
});

test("a verification reads no table for canaries, since one read a minute serves all", async () => {
  const ctx = givenSqliteWorld();
  let queries = 0;
  const world = withTable(
    { world: ctx.world, table: ctx.world.table },
    {
      query: (query) => {
        if (query.pk === "CANARIES") queries++;
        return ctx.world.table.query(query);
      },
    },
  );
  const canaries = createCanaries(world);
  await Promise.all(Array.from({ length: 500 }, () => canaries.isDoubted("google")));
  ctx.later(59_000);
  await canaries.isDoubted("icloud");
  expect(queries).toBe(1);
  ctx.later(1_000);
  await canaries.isDoubted("google");
  expect(queries).toBe(2);
});

test("a failing table changes no verdict and stops no verification", async () => {
  const ctx = givenSqliteWorld();
  const down = () => Promise.reject(new Error("the table is down"));
  const world = withTable(
    { world: ctx.world, table: ctx.world.table },
    { query: down, write: down },
  );
  const { verifyOne } = givenProcess(
    { ...ctx, world: world as Context["world"] },
    { acceptsUnknown: true },
  );

  for (let n = 0; n < 50; n++) expect((await verifyOne(`real${n}`)).status).toBe("valid");
});
