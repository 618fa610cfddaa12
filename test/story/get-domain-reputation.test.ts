import type { AppWorld } from "@mailproof/core/app-world";
import { type Blocklist, createList } from "@mailproof/mail/blocklists/lists";
import { expect, test } from "vitest";
import { withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { ADDRESSES_MIN, createEvent, DAY_MS, whenEventsSent } from "../things/activity.ts";

const ask = (world: AppWorld, key: string, domain = "x.com") =>
  send(world, `GET /v1/activity/domain/${domain}`, { key });

const LIST: Blocklist = { ...createList("domains.bl.test"), asks: "domain" };
/** It asks for addresses, of which a domain has none here. */
const OTHER = createList("ips.bl.test");
const LISTED: Zone = { "x.com.domains.bl.test": { A: ["127.0.0.2"] } };

const givenLists = async (
  names: Zone,
  { isHealthy = true, lists = [LIST, OTHER] }: { isHealthy?: boolean; lists?: Blocklist[] } = {},
) => {
  const ctx = await given();
  const dns = createZoneDns(names);
  const blocklists = { listsFor: () => lists, keys: {}, isHealthy: async () => isHealthy };
  const world = {
    ...ctx.world,
    names: { dns, listDns: dns, dkimSelectors: [], allowed: [], blocklists },
  };
  return { ...ctx, world, dns };
};

test("the reputation of a domain with enough activity answers 200 with score, level, trend and shares", async () => {
  const { world, liveKey: key } = await givenLists({});
  const emails = Array.from({ length: ADDRESSES_MIN }, (_, n) => `p${n}@x.com`);
  await whenEventsSent(
    world,
    key,
    ...emails.flatMap((email) => [
      createEvent("delivery", 2, { email }),
      createEvent("delivery", 40, { email }),
    ]),
    ...emails.slice(0, 8).map((email) => createEvent("open", 1, { email })),
  );

  const { statusCode, data } = await ask(world, key, "X.com");

  expect(statusCode).toBe(200);
  expect(data).toEqual({
    domain: "x.com",
    domain_unicode: "x.com",
    reputation: { score: 100, level: "excellent", trend: "improving" },
    metrics: {
      status: "known",
      total_emails_tracked: ADDRESSES_MIN,
      avg_engagement_rate: 0.4,
      avg_bounce_rate: 0,
      spam_complaint_rate: 0,
    },
    blacklist_status: { status: "known", listed: false, checked_at: "2026-11-21T00:00:00.000Z" },
  });
});

test("the reputation from too few addresses shows a count of 0, no rates and the status not_known", async () => {
  const { world, liveKey: key } = await givenLists(LISTED);
  await whenEventsSent(world, key, createEvent("delivery", 2), createEvent("open", 1));

  const { statusCode, data } = await ask(world, key);

  expect(statusCode).toBe(200);
  expect(data).toEqual({
    domain: "x.com",
    domain_unicode: "x.com",
    reputation: { level: "unknown", trend: "unknown" },
    metrics: { status: "not_known", total_emails_tracked: 0 },
    blacklist_status: { status: "known", listed: true, checked_at: "2026-11-21T00:00:00.000Z" },
  });
});

test("the service asks the blocklists about a domain once a day for all accounts", async () => {
  const { world, liveKey: key, dns, later } = await givenLists(LISTED);
  await ask(world, key);
  later(DAY_MS - 60_000);
  const again = await ask(world, key);
  const callsBefore = dns.calls.length;
  later(60_000);
  const next = await ask(world, key);

  expect(callsBefore).toBe(1);
  expect(again.data.blacklist_status.checked_at).toMatch(/^2026-11-21/);
  expect(next.data.blacklist_status.checked_at).toMatch(/^2026-11-22/);
  expect(dns.calls).toHaveLength(2);
});

test.each([
  ["no blocklist answers", { "x.com.domains.bl.test": "TIMEOUT" }, {}],
  ["no blocklist is healthy", LISTED, { isHealthy: false }],
  ["no blocklist of domains exists", LISTED, { lists: [OTHER] }],
] as const)(
  "the blocklist status is not_known when %s, and the service asks again soon",
  async (_case, names, lists) => {
    const { world, liveKey: key, later } = await givenLists(names as Zone, lists as object);
    const first = await ask(world, key);
    later(16 * 60_000);
    const second = await ask(world, key);

    expect(first.data.blacklist_status).toEqual({
      status: "not_known",
      listed: false,
      checked_at: "2026-11-21T00:00:00.000Z",
    });
    expect(second.data.blacklist_status.checked_at > first.data.blacklist_status.checked_at).toBe(
      true,
    );
  },
);

test("the reputation contains the blocklists' replies when they cannot be stored", async () => {
  const ctx = await givenLists(LISTED);
  const { table, world } = ctx;
  const broken = withTable(ctx, {
    write: (write) =>
      "put" in write ? Promise.reject(new Error("the disk is full")) : table.write(write),
  });

  const { data } = await ask({ ...broken, names: world.names }, ctx.liveKey);

  expect(data.blacklist_status.listed).toBe(true);
});
