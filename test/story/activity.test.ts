import type { AppWorld } from "@mailproof/core/app-world";
import { type Blocklist, createList } from "@mailproof/mail/blocklists/lists";
import { expect, test } from "vitest";
import { rejectDown, withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listStoredItems } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { createZoneDns, type Zone } from "../app/zone.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  ADDRESSES_MIN,
  createEvent,
  DAY_MS,
  daysAgo,
  type SentEvent,
  whenActivityRead,
  whenEventsSent,
} from "../things/activity.ts";

const ROUTE = "POST /v1/activity/events";

test("an activity request of 500 events answers 200 and counts them, and a repeat adds nothing", async () => {
  const { world, liveKey: key } = await given();
  const events = Array.from({ length: 500 }, (_, n) =>
    createEvent("open", n % 30, { email: `p${n % 7}@x.com` }),
  );

  const first = await whenEventsSent(world, key, ...events);
  const again = await whenEventsSent(world, key, ...events);

  expect(first.statusCode).toBe(200);
  expect(first.data).toEqual({ received: 500, accepted: 500, duplicates: 0, ignored: [] });
  expect(again.data).toEqual({ received: 500, accepted: 0, duplicates: 500, ignored: [] });
  expect((await whenActivityRead(world, key, "p0@x.com")).data.activity.total_opens).toBe(72);
});

test("the service counts the first of several events with one id, in one request or in two", async () => {
  const { world, liveKey: key } = await given();
  const open = createEvent("open", 1);

  const { data } = await whenEventsSent(
    world,
    key,
    open,
    { ...open, type: "click" },
    createEvent("open", 2),
  );
  await whenEventsSent(world, key, { ...open, type: "click" });

  expect(data).toMatchObject({ accepted: 2, duplicates: 1 });
  expect((await whenActivityRead(world, key)).data.activity).toMatchObject({
    total_opens: 2,
    total_clicks: 0,
  });
});

test("the service ignores and lists events too old or too far ahead, and counts one slightly ahead", async () => {
  const { world, liveKey: key } = await given();
  const old = createEvent("open", 401);
  const ahead = createEvent("open", -1);
  const soon = createEvent("open", -10 / 1440);

  const { data } = await whenEventsSent(world, key, old, ahead, soon);

  expect(data).toEqual({
    received: 3,
    accepted: 1,
    duplicates: 0,
    ignored: [
      { id: old.id, reason: "too_old" },
      { id: ahead.id, reason: "in_the_future" },
    ],
  });
  expect((await whenActivityRead(world, key)).data.activity.last_seen).toBe(daysAgo(0));
});

const SOON = { delivered_at: daysAgo(1) };
const after = (seconds: number) => ({ ...SOON, occurred_at: daysAgo(1 - seconds / 86_400) });

test.each(asRows`
  Apple's mail privacy protection | ${{ user_agent: "Mozilla/5.0" }} | 1
  a security gateway | ${{ user_agent: "Mozilla/5.0 (compatible; Barracuda)" }} | 1
  a declared bot | ${{ user_agent: "Slackbot-LinkExpanding 1.0" }} | 1
  an HTTP library | ${{ user_agent: "python-requests/2.32" }} | 1
  a client that the sender marks as a machine | ${{ machine: true }} | 1
  a client ten seconds after the delivery | ${after(10)} | 1
  a client a little before the delivery, with another clock | ${after(-3)} | 1
  a client eleven seconds after the delivery | ${after(11)} | 0
  a client a minute before the delivery, with a wrong clock | ${after(-60)} | 0
  Gmail's image proxy, which acts for a person | ${{ user_agent: "Mozilla/5.0 (Windows NT 5.1) Firefox/11.0 (via ggpht.com GoogleImageProxy)" }} | 0
  a Cubot telephone | ${{ user_agent: "Mozilla/5.0 (Linux; CUBOT NOTE 20) Mobile" }} | 0
  Apple Mail without privacy protection | ${{ user_agent: "Mozilla/5.0 (iPhone) Mobile" }} | 0
`)("the service counts an open by %s (%o) as a machine's: %i", async (_case, more, machine) => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(world, key, createEvent("open", 1, more), createEvent("click", 1, more));

  const { activity } = (await whenActivityRead(world, key)).data;

  expect([activity.machine_events, activity.total_opens, activity.total_clicks]).toEqual(
    machine ? [2, 0, 0] : [0, 1, 1],
  );
  expect(activity.engagement_level).toBe(machine ? "unknown" : "high");
});

test("the service stores no address, domain or event id in plain text", async () => {
  const ctx = await given();
  const event = createEvent("open", 1, { email: "Very.Secret+tag@hidden-company.example" });
  const before = JSON.stringify(listStoredItems(ctx));
  await whenEventsSent(ctx.world, ctx.liveKey, event);

  const stored = JSON.stringify(listStoredItems(ctx));

  expect(stored.length).toBeGreaterThan(before.length);
  expect(stored).not.toMatch(/secret|hidden|event-\d/i);
});

test.each(asRows`
  501 events | ${Array.from({ length: 501 }, () => createEvent("open", 1))} | events
  an empty list | [] | events
  a wrong address | ${[createEvent("open", 1, { email: "ann" })]} | events.0.email
  an unknown type | ${[{ ...createEvent("open", 1), type: "look" }]} | events.0.type
  an empty id | ${[createEvent("open", 1, { id: "" })]} | events.0.id
  a date without a time | ${[createEvent("open", 1, { occurred_at: "2026-11-20" })]} | events.0.occurred_at
  a time without an offset | ${[createEvent("open", 1, { occurred_at: "2026-11-20T10:00:00" })]} | events.0.occurred_at
  a date that no calendar has | ${[createEvent("open", 1, { occurred_at: "2026-02-30T10:00:00Z" })]} | events.0.occurred_at
  an unknown field | ${[{ ...createEvent("open", 1), ip: "192.0.2.1" }]} | events.0.ip
`)(
  "an activity request with %s answers 400, states the field and counts nothing",
  async (_case, events, field) => {
    const ctx = await given();
    const before = listStoredItems(ctx);

    const refused = await send(ctx.world, ROUTE, { key: ctx.liveKey, body: { events } });

    expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
    expect(refused.error.details[0].field).toBe(field);
    expect(listStoredItems(ctx)).toEqual(before);
  },
);

test("the service answers events of a test key and does not store them", async () => {
  const ctx = await given();
  const before = listStoredItems(ctx);

  const { data } = await whenEventsSent(ctx.world, ctx.testKey, createEvent("open", 1));

  expect(data).toEqual({ received: 1, accepted: 1, duplicates: 0, ignored: [] });
  expect(listStoredItems(ctx)).toEqual(before);
});

test.each([true, false])(
  "an activity request whose write lost its reply (%s) answers 503, and a repeat counts each event once",
  async (written) => {
    const ctx = await given();
    const { liveKey: key, table } = ctx;
    const events = [createEvent("open", 1), createEvent("click", 2)];
    let isFirst = true;
    const silent = withTable(ctx, {
      transact: async (writes) => {
        if (written && isFirst) await table.transact(writes);
        isFirst = false;
        return { outcome: "ambiguous" };
      },
      get: (itemKey) =>
        itemKey.pk.startsWith("ACTIVITYEVENT#") ? rejectDown() : table.get(itemKey),
    });

    const unsure = await whenEventsSent(silent, key, ...events);
    const again = await whenEventsSent(ctx.world, key, ...events);

    expect(unsure).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
    expect(again.data.accepted).toBe(written ? 0 : 2);
    expect((await whenActivityRead(ctx.world, key)).data.activity).toMatchObject({
      total_opens: 1,
      total_clicks: 1,
    });
  },
);

test("the activity of an address answers 200 with its times, level, sums and shares", async () => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(
    world,
    key,
    ...[50, 40, 6, 5].map((days) => createEvent("delivery", days)),
    createEvent("bounce", 7),
    createEvent("complaint", 39),
    createEvent("open", 40),
    createEvent("open", 5),
    createEvent("open", 4),
    createEvent("click", 3.5),
    createEvent("open", 5, { machine: true }),
  );

  const { statusCode, data } = await whenActivityRead(world, key);

  expect(statusCode).toBe(200);
  expect(data).toEqual({
    email: "ann@x.com",
    activity: {
      last_seen: daysAgo(3.5),
      last_open: daysAgo(4),
      last_click: daysAgo(3.5),
      engagement_level: "high",
      total_opens: 3,
      total_clicks: 1,
      opens_last_30d: 2,
      clicks_last_30d: 1,
      machine_events: 1,
    },
    deliverability: { status: "known", inbox_rate: 0.6, spam_rate: 0.25, bounce_rate: 0.2 },
  });
});

test("the activity of an unknown address answers 200 with counts of 0 and without times and rates", async () => {
  const { world, liveKey: key } = await given();

  const { statusCode, data } = await whenActivityRead(world, key);

  expect(statusCode).toBe(200);
  expect(data.activity).toEqual({
    engagement_level: "unknown",
    total_opens: 0,
    total_clicks: 0,
    opens_last_30d: 0,
    clicks_last_30d: 0,
    machine_events: 0,
  });
  expect(data.deliverability).toEqual({ status: "not_known" });
});

test("the activity omits only the rate without a divisor and returns the status partly_known", async () => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(world, key, createEvent("bounce", 1));

  expect((await whenActivityRead(world, key)).data.deliverability).toEqual({
    status: "partly_known",
    inbox_rate: 0,
    bounce_rate: 1,
  });
});

test("the activity limits each share to between 0 and 1", async () => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(
    world,
    key,
    createEvent("delivery", 1),
    createEvent("complaint", 1),
    createEvent("complaint", 1),
  );

  expect((await whenActivityRead(world, key)).data.deliverability).toEqual({
    status: "known",
    inbox_rate: 0,
    spam_rate: 1,
    bounce_rate: 0,
  });
});

test.each(asRows`
  an open today | high | ${[createEvent("open", 0)]}
  an open 30 days ago | high | ${[createEvent("open", 30)]}
  an open 31 days ago | medium | ${[createEvent("open", 31)]}
  a click 90 days ago | medium | ${[createEvent("click", 90)]}
  a click 91 days ago | low | ${[createEvent("click", 91)]}
  a click 399 days ago | low | ${[createEvent("click", 399)]}
  mail for 91 days without an open | low | ${[createEvent("delivery", 91), createEvent("delivery", 1)]}
  mail for 90 days without an open | unknown | ${[createEvent("delivery", 90)]}
  opens by machines alone | unknown | ${[createEvent("open", 1, { machine: true })]}
`)("the activity after %s shows the engagement level %s", async (_case, level, events) => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(world, key, ...(events as readonly SentEvent[]));

  expect((await whenActivityRead(world, key)).data.activity.engagement_level).toBe(level);
});

test("the engagement level falls with time and becomes unknown after 400 days", async () => {
  const { world, liveKey: key, later } = await given();
  await whenEventsSent(world, key, createEvent("open", 0));
  const levels = [];
  for (const days of [0, 30, 1, 59, 1, 309]) {
    later(days * DAY_MS);
    levels.push((await whenActivityRead(world, key)).data.activity.engagement_level);
  }
  later(DAY_MS);

  expect(levels).toEqual(["high", "high", "medium", "medium", "low", "low"]);
  expect((await whenActivityRead(world, key)).data.activity.engagement_level).toBe("unknown");
});

test.each(asRows`
  a plus sign | /v1/activity/ann%2Bnews%40x.com | ann+news@x.com
  a bare plus sign | /v1/activity/ann+news@x.com | ann+news@x.com
  capitals | /v1/activity/ANN%2Bnews%40X.com | ANN+news@x.com
  a slash | /v1/activity/a%2Fb%40x.com | a/b@x.com
  a percent sign | /v1/activity/a%25b%40x.com | a%b@x.com
  letters beyond ASCII | /v1/activity/j%C3%BCrgen%40b%C3%BCcher.example | jürgen@bücher.example
  an A-label | /v1/activity/j%C3%BCrgen%40xn--bcher-kva.example | jürgen@bücher.example
  quotes | /v1/activity/%22a%20b%22%40x.com | "a b"@x.com
`)("the path decodes %s", async (_case, path, email) => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(world, key, createEvent("open", 1, { email }));

  const { statusCode, data } = await send(world, `GET ${path}`, { key });

  expect(statusCode).toBe(200);
  expect(data).toMatchObject({ email, activity: { total_opens: 1 } });
});

test.each([
  ["no @", "ann"],
  ["no domain", "ann@"],
  ["a space", "an n@x.com"],
  ["too many letters", `${"a".repeat(1_000)}@x.com`],
])("the activity of an address with %s answers 400 and states the field", async (_case, email) => {
  const { world, liveKey: key } = await given();

  const refused = await whenActivityRead(world, key, email);

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.details[0].field).toBe("email");
});

const BATCH_ROUTE = "POST /v1/activity/batch";
const ask = (world: Parameters<typeof send>[0], key: string, emails: unknown) =>
  send(world, BATCH_ROUTE, { key, body: { emails } });

test("a batch of a hundred addresses answers 200 in the requested order and repeats a duplicate", async () => {
  const { world, liveKey: key } = await given();
  await whenEventsSent(world, key, createEvent("open", 1, { email: "p7@x.com" }));
  const emails = [...Array.from({ length: 99 }, (_, n) => `p${n}@x.com`), "p7@x.com"];

  const { statusCode, data } = await ask(world, key, emails);

  expect(statusCode).toBe(200);
  expect(data.total).toBe(100);
  expect(data.results.map(({ email }: { email: string }) => email)).toEqual(emails);
  expect(
    data.results.flatMap((one: any, at: number) => (one.activity.total_opens === 1 ? [at] : [])),
  ).toEqual([7, 99]);
});

test.each([
  ["101 addresses", Array.from({ length: 101 }, (_, n) => `p${n}@x.com`), "emails"],
  ["an empty list", [], "emails"],
  ["a text instead of a list", "ann@x.com", "emails"],
  ["a wrong address in the list", ["ann@x.com", "bo"], "emails.1"],
  ["a number in the list", ["ann@x.com", 5], "emails.1"],
])("an activity batch with %s answers 400 and states the field", async (_case, emails, field) => {
  const { world, liveKey: key } = await given();

  const refused = await ask(world, key, emails);

  expect(refused).toMatchObject({ statusCode: 400, error: { code: "INVALID_REQUEST" } });
  expect(refused.error.details[0].field).toBe(field);
});

const askForDomain = (world: AppWorld, key: string, domain = "x.com") =>
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

  const { statusCode, data } = await askForDomain(world, key, "X.com");

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

  const { statusCode, data } = await askForDomain(world, key);

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
  await askForDomain(world, key);
  later(DAY_MS - 60_000);
  const again = await askForDomain(world, key);
  const callsBefore = dns.calls.length;
  later(60_000);
  const next = await askForDomain(world, key);

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
    const first = await askForDomain(world, key);
    later(16 * 60_000);
    const second = await askForDomain(world, key);

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

  const { data } = await askForDomain({ ...broken, names: world.names }, ctx.liveKey);

  expect(data.blacklist_status.listed).toBe(true);
});
