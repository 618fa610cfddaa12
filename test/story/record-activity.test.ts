import { expect, test } from "vitest";
import { rejectDown, withTable } from "../app/faulty-worlds.ts";
import { given } from "../app/given.ts";
import { listStoredItems } from "../app/ledger.ts";
import { send } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { createEvent, daysAgo, whenActivityRead, whenEventsSent } from "../things/activity.ts";

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
