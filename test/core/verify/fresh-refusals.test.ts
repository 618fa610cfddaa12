import { createCatchAllCache } from "@mailproof/core/smtp-pool/catch-all-cache";
import { createProbe } from "@mailproof/core/smtp-pool/scheduler";
import { verify } from "@mailproof/core/verify/verify";
import { createReplyReader } from "@mailproof/mail/smtp/reply-reader";
import type { SmtpConnect } from "@mailproof/mail/smtp/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { given } from "../../app/given.ts";

// Goal: no address is valid while its mail server accepts every recipient, whatever the server did before.
// Method: a model of a domain's two mail hosts, each with a mind of its own that changes between two steps of a drawn
// history, by turns asked by the process that asked before, by a new one, and for another account. A step is a job of
// several lists or single calls; hosts go down between them.

type Mind =
  | "knows"
  | "accepts all"
  | "refuses all"
  | "greylists"
  | "knows in words of its own"
  | "defers in words of its own";

const KNOWN = new Set(["ann", "bob", "eve"]);
const DELAY_MS = 5 * 60_000;
const FIRST = "mx1.x.com";
const SECOND = "mx2.x.com";

const givenServer = async (secondPriority = 20) => {
  const ctx = await given();
  const { world, table, later } = ctx;
  const seen = new Map<string, number>();
  const minds = new Map<string, Mind>([
    [FIRST, "knows"],
    [SECOND, "knows"],
  ]);
  const down = new Set([SECOND]);
  const acceptedIn = new Map<string, Mind>();
  let random = 0;
  const replyTo = (local: string, mind: Mind): string => {
    if (!KNOWN.has(local) && /^[a-z][a-z0-9]{19}$/.test(local)) random++;
    const isKnown = KNOWN.has(local);
    if (mind === "accepts all") return "250 2.1.5 Ok";
    if (mind === "refuses all") return "550 5.1.1 User unknown";
    if (mind === "knows in words of its own")
      return isKnown ? "250 Ok" : `550 Nada de <${local}@x.com>, ${local} veut dire qui ?`;
    if (mind === "defers in words of its own")
      return isKnown ? "451 4.3.0 Later" : `550 Nada de <${local}@x.com>`;
    const atMs = world.now().getTime();
    const firstMs = seen.get(local) ?? atMs;
    seen.set(local, firstMs);
    if (mind === "greylists" && atMs - firstMs < DELAY_MS) return "450 4.2.0 Greylisted";
    return isKnown ? "250 2.1.5 Ok" : "550 5.1.1 User unknown";
  };
  const connect: SmtpConnect = async ({ host }) => {
    if (down.has(host)) return "connect_refused";
    const mind = minds.get(host) ?? "knows";
    let next = "220 hi";
    return {
      send: (line) => {
        const [, local] = /^RCPT TO:<([^@]*)/.exec(line) ?? [];
        next = local === undefined ? "250 ok" : replyTo(local, mind);
        if (local !== undefined && next.startsWith("250")) acceptedIn.set(local, mind);
      },
      receive: async () => createReplyReader()(Buffer.from(`${next}\r\n`))[0] ?? "closed",
      startTls: async () => "tls_failed",
      close: async () => {},
    };
  };
  const smtp = { helo: "probe.example", from: "probe@example.org", port: 25 };
  const hosts = [
    { host: FIRST, priority: 10, ips: ["192.0.2.1"] },
    { host: SECOND, priority: secondPriority, ips: ["192.0.2.2"] },
  ];
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
    think: (first: Mind, second: Mind = first) => {
      minds.set(FIRST, first);
      minds.set(SECOND, second);
    },
    stop: (hosts: readonly string[]) => {
      down.clear();
      for (const host of hosts) down.add(host);
    },
    /** What the host that accepted this name last does with others. */
    getMind: (email: string) => acceptedIn.get(email),
    countRandom: () => random,
  };
};

const ask = async (
  engine: Awaited<ReturnType<Awaited<ReturnType<typeof givenServer>>["startProcess"]>>,
  locals: readonly string[],
  account = "acc_1",
  job?: string,
): Promise<readonly string[]> => {
  const requester = { account, priority: "list", job } as const;
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
const LOCALS = fc.uniqueArray(fc.constantFrom("ann", "bob", "eve", "dan", "zoe"), { minLength: 1 });
const STEP = fc.record({
  minds: fc.tuple(MINDS, MINDS),
  lists: fc.array(fc.record({ locals: LOCALS, down: fc.constantFrom([], [FIRST], [SECOND]) }), {
    minLength: 1,
    maxLength: 3,
  }),
  account: fc.constantFrom("acc_1", "acc_2"),
  isJob: fc.boolean(),
  isNewProcess: fc.boolean(),
  minutes: fc.constantFrom(0, 1, 6, 90, 1_300, 1_500),
});

test("an address does not become valid while its server accepts every recipient", async () => {
  let valid = 0;
  const histories = fc.array(STEP, { minLength: 2, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(histories, fc.constantFrom(10, 20), async (steps, secondPriority) => {
      const server = await givenServer(secondPriority);
      let engine = server.startProcess();
      for (const [at, { minds, lists, account, isJob, isNewProcess, minutes }] of steps.entries()) {
        server.later(minutes * 60_000);
        server.think(...minds);
        if (isNewProcess) engine = server.startProcess();
        for (const { locals, down } of lists) {
          server.stop(down);
          const found = await ask(engine, locals, account, isJob ? `job_${at}` : undefined);
          const sold = locals.filter((_, n) => found[n]?.startsWith("valid"));
          valid += sold.length;
          expect(sold.filter((local) => server.getMind(local) === "accepts all")).toEqual([]);
        }
      }
    }),
    { numRuns: 300 },
  );
  // Enough acceptances are believed, or this test shows nothing.
  expect(valid).toBeGreaterThan(300);
});

test("one refusal proves at most ten later acceptances of its job", async () => {
  const server = await givenServer();
  const engine = server.startProcess();
  const askOne = async (local: string) => (await ask(engine, [local], "acc_1", "job_1"))[0];
  await askOne("ann");
  server.think("accepts all");

  const found: (string | undefined)[] = [];
  for (let n = 0; n < 30; n++) found.push(await askOne(`p${n}`));

  expect(found.slice(0, 10)).toEqual(Array(10).fill("valid accepted"));
  expect(found.slice(10)).toEqual(Array(20).fill("catch_all catch_all"));
});

test("a job's proof at one mail host proves no acceptance at another", async () => {
  const server = await givenServer();
  const engine = server.startProcess();
  server.think("knows", "accepts all");
  await ask(engine, ["ann"], "acc_1", "job_1");
  server.stop([FIRST]);

  expect(await ask(engine, ["dan"], "acc_1", "job_1")).not.toEqual(["valid accepted"]);
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
