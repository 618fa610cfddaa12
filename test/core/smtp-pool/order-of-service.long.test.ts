import { expect, test } from "vitest";
import { givenBusyHosts, type Host, ONE_HOST, ownHost } from "./busy-hosts.ts";

// Which account is served next: at one mail host, at one mail provider, and when all sessions are in use. Every reply
// takes 100 ms of virtual time.

const MINUTE_MS = 60_000;
const oneHost = () => ONE_HOST;
const good = (n: number) => ownHost(n);
const silent = (n: number): Host => ({ ...ownHost(n), host: `silent${n}.example` });
const isSilent = (host: string): boolean => host.startsWith("silent");
/** Domains of one mail provider, each with a name of its own for the provider's host. */
const atProvider = (n: number): Host => ({
  domain: `tenant${n}.example`,
  host: `tenant${n}.mail.protection.outlook.com`,
  ip: "192.0.2.9",
});

test("a list of ten does not wait behind 20,000 rows of another account at the same mail host", async () => {
  const { askMany, answered, world } = givenBusyHosts();
  const large = askMany("large", "list", 20_000, oneHost);
  await world.sleep(20_000);
  const before = answered.length;

  await askMany("small", "list", 10, oneHost);

  // Ten sessions of at most a hundred are under way; the next one has all ten, and ends among nine others.
  expect(answered.length - before).toBeLessThanOrEqual(2_000);
  await large;
});

test("a caller at a mail host busy with a list waits for the current session only", async () => {
  const { ask, askMany, world } = givenBusyHosts();
  const large = askMany("large", "list", 20_000, oneHost);
  const waits: number[] = [];
  for (let call = 0; call < 20; call++) {
    await world.sleep(1_370);
    const { waitedMs } = await ask("other", "caller", `call${call}`, ONE_HOST);
    waits.push(waitedMs);
  }

  // A session of the list answers QUIT and ends; the caller's own takes greeting, EHLO, MAIL, RCPT for ten, and QUIT.
  expect(Math.max(...waits)).toBeLessThanOrEqual(2_500);
  await large;
});

test("callers do not stop the lists, which keep a quarter of a busy connection", async () => {
  const { ask, askMany, answered, world } = givenBusyHosts();
  const at: Host = { domain: "gmx.example", host: "mx.gmx.net", ip: "192.0.2.7" };
  const list = askMany("large", "list", 1_000, () => at);
  const callers = Array.from({ length: 500 }, async (_, n) => {
    await world.sleep(n * 10);
    return ask("eager", "caller", `call${n}`, at);
  });

  await Promise.all(callers);

  const rows = answered.filter(({ priority }) => priority === "list").length;
  expect(rows).toBeGreaterThanOrEqual(100);
  expect(rows).toBeLessThanOrEqual(300);
  await list;
});

test("accounts take turns at a mail provider, however many names its hosts use", async () => {
  const { askMany, answered } = givenBusyHosts();
  const large = askMany("large", "list", 2_000, atProvider);

  await askMany("small", "list", 20, (n) => atProvider(5_000 + n));

  expect(answered.filter(({ account }) => account === "large").length).toBeLessThanOrEqual(40);
  await large;
});

test("an account with all its sessions at silent hosts leaves enough for other accounts", async () => {
  const { ask, askMany, world, peak } = givenBusyHosts({ isSilent });
  void askMany("attacker", "caller", 1_000, silent);
  await world.sleep(1_000);
  const heldByOne = peak();
  void askMany("second", "caller", 1_000, (n) => silent(2_000 + n));
  await world.sleep(1_000);

  const { waitedMs, answer } = await ask("other", "caller", "ann", good(9_000));

  expect(heldByOne).toBe(560);
  expect(peak()).toBeLessThan(700);
  expect(answer.finding.verdict).toBe("valid");
  expect(waitedMs).toBeLessThanOrEqual(1_000);
});

test("a list that waits for silent hosts leaves sessions to callers of the same account", async () => {
  const { ask, askMany, world } = givenBusyHosts({ isSilent });
  void askMany("one", "list", 1_000, silent);
  await world.sleep(1_000);

  const { waitedMs } = await ask("one", "caller", "ann", good(9_000));

  expect(waitedMs).toBeLessThanOrEqual(1_000);
});

test("the next session serves an account without a session when a list has reached its share", async () => {
  const { askMany, answered, world } = givenBusyHosts();
  const large = askMany("large", "list", 6_000, good);
  await world.sleep(300);
  const before = answered.length;

  await askMany("small", "list", 40, (n) => good(8_000 + n));

  expect(answered.length - before).toBeLessThanOrEqual(2 * 504 + 40);
  await large;
});

test("two accounts' rows share a session, and each row gets exactly one result", async () => {
  const { askMany, answered, sessions, world } = givenBusyHosts();
  const all = [
    askMany("ann", "list", 30, oneHost),
    askMany("bo", "list", 30, oneHost),
    askMany("cy", "caller", 30, oneHost),
  ];
  await Promise.all(all);
  await world.sleep(MINUTE_MS);

  expect(answered).toHaveLength(90);
  expect(new Set(answered.map(({ answer }) => answer.recipient)).size).toBe(90);
  expect(sessions()).toBeLessThanOrEqual(12);
});
