import { openAccount } from "@mailproof/core/accounts/accounts";
import { verifySingle } from "@mailproof/core/lists/chunk-worker";
import { credits } from "@mailproof/core/money/credits";
import { findJob } from "@mailproof/core/rows/items";
import { createProberHandler, createRemoteProbe } from "@mailproof/functions/capabilities/prober";
import { expect, test } from "vitest";
import { whenVerified } from "../../app/send.ts";
import { createContext } from "../../aws/events.ts";
import { givenBusyHosts, type Host } from "./busy-hosts.ts";
import { givenCluster, hostAt, kind } from "./cluster.ts";

// A caller waits until a deadline, and after it its question takes no session. In virtual time.

/** A host with one connection. */
const NARROW: Host = {
  domain: "tenant.example",
  host: "tenant.mail.protection.outlook.com",
  ip: "192.0.2.9",
};

test("a probe without a session at its deadline returns at once, and sends no command", async () => {
  const { ask, atMs, named, sessions, world } = givenBusyHosts({ replyMs: 5_000 });
  const first = ask("ann", "caller", "ann", NARROW);
  await world.sleep(10);

  const { answer, waitedMs } = await ask("bo", "caller", "bo", NARROW, 3_000);

  expect(waitedMs).toBe(3_000);
  expect(answer.comeBack?.at).toBe(world.now().toISOString());
  expect(answer.finding).toMatchObject({ verdict: "unknown", reason: "timeout" });
  await first;
  await world.sleep(600_000);
  expect({ named: named(), sessions: sessions() }).toEqual({ named: 2, sessions: 1 });
  expect(atMs()).toBeGreaterThan(600_000);
});

test("a probe whose session has begun returns its result, however long the session takes", async () => {
  const { ask } = givenBusyHosts({ replyMs: 1_000 });

  const { answer, waitedMs } = await ask("ann", "caller", "ann", NARROW, 500);

  expect(answer.finding.verdict).toBe("valid");
  expect(waitedMs).toBeGreaterThan(500);
});

test("a probe that its session did not reach before the deadline does not return to the queue", async () => {
  const { engines, sessions, world } = givenCluster(
    1,
    (line, session) =>
      line.startsWith("RCPT") && session === 1 ? "421 4.7.0 too busy" : kind(line, session),
    { comesBack: false, lag: 1_000 },
  );
  const ask = (local: string) =>
    engines[0]?.({
      recipient: `${local}@example.com`,
      domain: "example.com",
      hosts: [hostAt("mx.example.com")],
      probeCatchAll: true,
      waitMs: 20,
    });

  const answers = await Promise.all([ask("ann"), ask("bo")]);
  await world.sleep(3_600_000);

  expect(answers.map((answer) => answer?.comeBack !== undefined)).toEqual([false, true]);
  expect(sessions).toHaveLength(1);
});

test("an expired probe leaves the order of the other probes unchanged", async () => {
  const { ask, world } = givenBusyHosts({ replyMs: 1_000 });
  void ask("ann", "caller", "ann", NARROW);
  await world.sleep(10);
  const asked = [
    ask("bo", "caller", "bo1", NARROW),
    ask("bo", "caller", "bo2", NARROW, 2_000),
    ask("bo", "caller", "bo3", NARROW),
    ask("cy", "caller", "cy1", NARROW, 2_000),
  ];

  const answers = await Promise.all(asked);

  expect(answers.map(({ answer }) => answer.comeBack !== undefined)).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

test("a prober ends when its caller stops waiting, and its probe keeps its ticket in the wait queue", async () => {
  const { engines, sessions, world } = givenCluster(
    2,
    (line, session) => (session > 5 ? kind(line, session) : undefined),
    { comesBack: false },
  );
  const [list, prober] = engines;
  const gmail = hostAt("gmail-smtp-in.l.google.com");
  const question = (local: string) => ({
    recipient: `${local}@gmail.com`,
    domain: "gmail.com",
    hosts: [gmail],
    probeCatchAll: false,
  });
  for (let n = 0; n < 125; n++) void list?.(question(`row${n}`));
  await world.sleep(1_000);
  const handler = createProberHandler(prober ?? (() => Promise.reject(new Error("no engine"))));
  const remote = createRemoteProbe(async (payload) =>
    JSON.parse(JSON.stringify(await handler(JSON.parse(JSON.stringify(payload)), createContext()))),
  );
  const askedAt = world.now().getTime();

  const { comeBack } = await remote({ ...question("ann"), waitMs: 4_000 });

  expect(sessions).toHaveLength(5);
  expect(world.now().getTime() - askedAt).toBeLessThan(5_000);
  expect(comeBack?.ticket.queue).toBe("google all");
});

test("only the job of a verification pending at its deadline asks the server, once", async () => {
  const { ask, named, probe, queue, table, world } = givenBusyHosts({ replyMs: 5_000 });
  const { liveKey } = await openAccount(world, { name: "A", plan: "pro", opening: credits(100) });
  const { host, ip, domain } = NARROW;
  const hosts = [{ host, priority: 10, ips: [ip] }];
  const findMailHosts = async () =>
    ({ kind: "hosts", hosts, implicit: false, dnsQueries: [] }) as const;
  const own = { ...world, engine: { ...world.engine, probe, findMailHosts } };
  const first = ask("ann", "caller", "ann", NARROW);
  await world.sleep(10);

  const email = `bo@${domain}`;
  const { data } = await whenVerified(own, liveKey, { email, options: { timeout_ms: 3_000 } });
  expect(data.status).toBe("pending");
  const [message] = await queue.receive(verifySingle.queue, { max: 1, waitMs: 0 });
  await verifySingle.handle(own, message?.body ?? null);
  await first;

  // The first address and this one, each with a random recipient.
  expect(named()).toBe(4);
  expect(await findJob(table, data.job_id)).toMatchObject({ status: "completed", valid: 1 });
});
