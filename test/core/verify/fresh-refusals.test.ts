import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { verify } from "@mailproof/core/verify/verify";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { given } from "../../app/given.ts";

// Goal: no address is valid while its mail server accepts every recipient, whatever the server did before.
// Method: a model of a server that changes its mind between two steps of a drawn history, by turns asked by the process
// that asked before, by a new one, and for another account.

type Mind =
  | "knows"
  | "accepts all"
  | "refuses all"
  | "greylists"
  | "knows in words of its own"
  | "defers in words of its own";

const KNOWN = new Set(["ann", "bob", "eve"]);
const DELAY_MS = 5 * 60_000;

const givenServer = async () => {
  const ctx = await given();
  const { world, table, later } = ctx;
  const seen = new Map<string, number>();
  let mind: Mind = "knows";
  let random = 0;
  const replyTo = (local: string): string => {
    if (!KNOWN.has(local) && /^[a-z][a-z0-9]{19}$/.test(local)) random++;
    const isKnown = KNOWN.has(local);
    if (mind === "accepts all") return "250 2.1.5 Ok";
    if (mind === "refuses all") return "550 5.1.1 User unknown";
    if (mind === "knows in words of its own")
      return isKnown ? "250 Ok" : `550 Nada de <${local}@x.com>`;
    if (mind === "defers in words of its own")
      return isKnown ? "451 4.3.0 Later" : `550 Nada de <${local}@x.com>`;
    const atMs = world.now().getTime();
    const firstMs = seen.get(local) ?? atMs;
    seen.set(local, firstMs);
    if (mind === "greylists" && atMs - firstMs < DELAY_MS) return "450 4.2.0 Greylisted";
    return isKnown ? "250 2.1.5 Ok" : "550 5.1.1 User unknown";
  };
  const connect: SmtpConnect = async () => {
    let next = "220 hi";
    return {
      send: (line) => {
        const [, local] = /^RCPT TO:<([^@]*)/.exec(line) ?? [];
        next = local === undefined ? "250 ok" : replyTo(local);
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const hosts = [{ host: "mx.x.com", priority: 10, ips: ["192.0.2.1"] }];
  const findMailHosts = async () =>
    ({ kind: "hosts", hosts, implicit: false, dnsQueries: [] }) as const;
  const startProcess = () => {
    const probe = createProbe({
      ...world,
      connect,
      catchAllCache: createCatchAllCache(table, world.now),
      smtp,
    });
    return { ...world.engine, findMailHosts, probe };
  };
  return {
    startProcess,
    later,
    think: (next: Mind) => {
      mind = next;
    },
    countRandom: () => random,
  };
};

const ask = async (
  engine: Awaited<ReturnType<Awaited<ReturnType<typeof givenServer>>["startProcess"]>>,
  locals: readonly string[],
  account = "acc_1",
): Promise<readonly string[]> => {
  const requester = { account, priority: "list" } as const;
  const options = { deepVerify: true, includeAi: false, includeEvidence: false, requester };
  const results = await Promise.all(
    locals.map((local) => verify(engine, `${local}@x.com`, options)),
  );
  return results.map(({ status, reason }) => `${status} ${reason}`);
};

const MINDS = fc.constantFrom<Mind>(
  "knows",
  "accepts all",
  "refuses all",
  "greylists",
  "knows in words of its own",
  "defers in words of its own",
);
const STEP = fc.record({
  mind: MINDS,
  locals: fc.uniqueArray(fc.constantFrom("ann", "bob", "eve", "dan", "zoe"), { minLength: 1 }),
  account: fc.constantFrom("acc_1", "acc_2"),
  isNewProcess: fc.boolean(),
  minutes: fc.constantFrom(0, 1, 6, 90, 1_300, 1_500),
});

test("an address does not become valid while its server accepts every recipient", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 2, maxLength: 8 }), async (steps) => {
      const server = await givenServer();
      let engine = server.startProcess();
      for (const { mind, locals, account, isNewProcess, minutes } of steps) {
        server.later(minutes * 60_000);
        server.think(mind);
        if (isNewProcess) engine = server.startProcess();
        const found = await ask(engine, locals, account);
        const isBlind = mind === "accepts all" || mind === "refuses all";
        expect(found.filter((one) => isBlind && one.startsWith("valid"))).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
});

test("a refused mailbox becomes catch_all when its server begins to accept every recipient", async () => {
  const server = await givenServer();
  const engine = server.startProcess();
  expect(await ask(engine, ["ann", "dan"])).toEqual([
    "valid accepted",
    "invalid mailbox_not_found",
  ]);

  server.think("accepts all");

  expect(await ask(engine, ["ann", "dan", "zoe"])).toEqual(Array(3).fill("catch_all catch_all"));
  server.think("knows");
  server.later(25 * 60 * 60_000);
  expect(await ask(engine, ["ann", "dan"])).toEqual([
    "valid accepted",
    "invalid mailbox_not_found",
  ]);
});

test("the engine trusts a refusal in unknown words when the server accepts another recipient", async () => {
  const server = await givenServer();
  server.think("knows in words of its own");

  expect(await ask(server.startProcess(), ["ann", "dan", "eve"])).toEqual([
    "valid accepted",
    "invalid mailbox_not_found",
    "valid accepted",
  ]);
});

test("a refusal in unknown words leaves the address unknown when the server accepted no recipient", async () => {
  const server = await givenServer();
  server.think("defers in words of its own");

  const [, refused] = await ask(server.startProcess(), ["ann", "dan"]);

  expect(refused).toBe("unknown unclassified_permanent");
});

test("each session asks about one random recipient of a domain", async () => {
  const server = await givenServer();
  const engine = server.startProcess();

  await ask(engine, ["ann", "bob", "eve"]);
  await ask(engine, ["ann", "bob"]);

  expect(server.countRandom()).toBe(2);
});
