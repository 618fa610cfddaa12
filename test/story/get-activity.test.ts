import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import {
  createEvent,
  DAY_MS,
  daysAgo,
  type SentEvent,
  whenActivityRead,
  whenEventsSent,
} from "../things/activity.ts";

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

const ROUTE = "POST /v1/activity/batch";
const ask = (world: Parameters<typeof send>[0], key: string, emails: unknown) =>
  send(world, ROUTE, { key, body: { emails } });

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
