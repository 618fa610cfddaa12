import { createDailyQuota, DAILY_LIMITS } from "@mailproof/core/smtp-pool/daily-limits";
import { HOST_DAILY_LIMIT } from "@mailproof/core/smtp-pool/results";
import type { MailHost } from "@mailproof/mail/dns/mail-hosts";
import { parseCidr } from "@mailproof/mail/ip";
import { createLists } from "@mailproof/mail/lists/lists";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { givenBusyHosts, ONE_HOST } from "./busy-hosts.ts";

// How many recipients other people's mail hosts are asked about in a day, by all accounts and processes.

const HOUR_MS = 3_600_000;
const AT: MailHost = { host: "mx.example.com", priority: 10, ips: ["192.0.2.1"] };
const GOOGLE: MailHost = { host: "aspmx.l.google.com", priority: 1, ips: ["192.0.2.2"] };

const givenQuotas = (count = 1, allowed: readonly string[] = []) => {
  const { world, table, later } = givenWorld();
  let writes = 0;
  const counting: typeof table = {
    ...table,
    write: (write) => {
      writes++;
      return table.write(write);
    },
  };
  const blocks = allowed.flatMap((text) => parseCidr(text) ?? []);
  const ports = { ...world, table: counting, lists: createLists(), allowed: blocks };
  return {
    world,
    later,
    writes: () => writes,
    quotas: Array.from({ length: count }, () => createDailyQuota(ports)),
  };
};
type Quota = ReturnType<typeof givenQuotas>["quotas"][number];

/** Sessions of nine unknown recipients each, until the process refuses; it comes to the number of recipients. */
const askUntilRefused = async (
  quotas: readonly Quota[],
  { accounts = ["a", "b", "c"], domains = ["example.com"], at = AT, most = 60_000, unknown = 9 },
): Promise<number> => {
  let granted = 0;
  for (let session = 0; granted < most; session++) {
    const quota = quotas[session % quotas.length];
    const account = accounts[session % accounts.length] ?? "";
    const domain = domains[session % domains.length] ?? "";
    if (!quota || quota.isReached(account, domain, at)) break;
    await quota.add([{ account, domain, at, unknown, recipients: 9 }]);
    granted += 9;
  }
  return granted;
};
const near = (limit: number): readonly [number, number] => [0.75 * limit, 1.25 * limit];
const expectNear = (granted: number, limit: number): void => {
  const [least, most] = near(limit);
  expect(granted).toBeGreaterThanOrEqual(least);
  expect(granted).toBeLessThanOrEqual(most);
};

test.each([1, 2, 20])(
  "unknown recipients at one domain stop at its daily limit, of %i processes together",
  async (processes) => {
    const { quotas, writes } = givenQuotas(processes);

    const granted = await askUntilRefused(quotas, {});

    expectNear(granted, DAILY_LIMITS.domain.unknown);
    // A write per recipient, or per session, would be five thousand, or six hundred.
    expect(writes()).toBeLessThanOrEqual(500);
  },
);

test("one account stops at half of the daily limit, and other accounts continue", async () => {
  const { quotas } = givenQuotas();

  const granted = await askUntilRefused(quotas, { accounts: ["greedy"] });

  expectNear(granted, DAILY_LIMITS.domain.unknown / 2);
  expect(quotas[0]?.isReached("other", "example.com", AT)).toBe(false);
});

test("many domains at one host stop at the daily limit of the host", async () => {
  const { quotas } = givenQuotas();
  const domains = Array.from({ length: 40 }, (_, n) => `d${n}.example`);

  const granted = await askUntilRefused(quotas, { domains });

  expectNear(granted, DAILY_LIMITS.host.unknown);
  expect(quotas[0]?.isReached("a", "another.example", AT)).toBe(true);
});

test("existing recipients do not count as unknown, so that the engine verifies a large list at one host completely", async () => {
  const { quotas } = givenQuotas();

  expect(await askUntilRefused(quotas, { unknown: 0, most: 500_000 })).toBeGreaterThanOrEqual(
    500_000,
  );
});

test("the daily limit allows a file of 500,000 addresses at Gmail, of which half do not exist", async () => {
  const { quotas } = givenQuotas();
  const file = { at: GOOGLE, domains: ["gmail.com"], accounts: ["one"], unknown: 5 };

  expect(await askUntilRefused(quotas, { ...file, most: 500_000 })).toBeGreaterThanOrEqual(500_000);
});

test("a company's own domain at a large provider uses the daily limit of a domain", async () => {
  const { quotas } = givenQuotas();

  const granted = await askUntilRefused(quotas, { at: GOOGLE });

  expectNear(granted, DAILY_LIMITS.domain.unknown);
  expect(quotas[0]?.isReached("a", "other.example", GOOGLE)).toBe(false);
});

test("the daily limit begins anew on the next day", async () => {
  const { quotas, later } = givenQuotas();
  await askUntilRefused(quotas, {});

  later(24 * HOUR_MS);

  expect(quotas[0]?.isReached("a", "example.com", AT)).toBe(false);
  expectNear(await askUntilRefused(quotas, {}), DAILY_LIMITS.domain.unknown);
});

test("a new process learns after a few sessions that the daily limit is reached", async () => {
  const first = givenQuotas(2);
  await askUntilRefused(first.quotas.slice(0, 1), {});

  const granted = await askUntilRefused(first.quotas.slice(1), {});

  expect(granted).toBeLessThanOrEqual(0.1 * DAILY_LIMITS.domain.unknown);
});

test("a list of guesses ends as unknown at the daily limit, waiting rows too, and the server gets no more probes", async () => {
  const { askMany, answered, named } = givenBusyHosts({ isUnknown: true });

  await Promise.all(
    ["a", "b", "c"].map((account) => askMany(account, "list", 4_000, () => ONE_HOST)),
  );

  const refused = answered.filter(({ answer }) => answer.finding.reason === HOST_DAILY_LIMIT);
  expect(answered).toHaveLength(12_000);
  expectNear(named(), DAILY_LIMITS.domain.unknown);
  expect(refused.length + named()).toBe(12_000);
  expect(refused.every(({ answer }) => answer.finding.verdict === "unknown")).toBe(true);
});

test("the engine asks no second host that reached its daily limit when the first host is down", async () => {
  const { askMany, probe, named } = givenBusyHosts({ isUnknown: true });
  await askMany("a", "list", 14_000, (n) => ({ ...ONE_HOST, domain: `d${n % 40}.example` }));
  const before = named();
  const down = { host: "mx.down.example", priority: 5, ips: ["192.0.2.77"] };
  const second = { host: ONE_HOST.host, priority: 10, ips: [ONE_HOST.ip] };

  const answer = await probe({
    recipient: "ann@other.example",
    domain: "other.example",
    hosts: [down, second],
    probeCatchAll: true,
    requester: { account: "a", priority: "caller" },
  });

  expectNear(before, DAILY_LIMITS.host.unknown / 2);
  expect(named()).toBe(before);
  expect(answer.finding.verdict).toBe("unknown");
});

test("the engine applies no daily limit to hosts of a laboratory", async () => {
  const { quotas, writes } = givenQuotas(1, ["192.0.2.0/24"]);

  expect(await askUntilRefused(quotas, {})).toBeGreaterThanOrEqual(60_000);
  expect(writes()).toBe(0);
});
