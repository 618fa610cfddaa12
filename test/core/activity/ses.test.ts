import { addressHash } from "@mailproof/core/activity/hashes";
import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import { findKnown } from "@mailproof/core/activity/items";
import type { Json } from "@mailproof/core/table";
import { expect, test } from "vitest";
import { given } from "../../given.ts";
import { storedIn } from "../../ledger.ts";
import { inEnvelope, LATER, sesEvent } from "../../ses.ts";
import { whenWorked } from "../../working.ts";

type House = Awaited<ReturnType<typeof given>>;

const whenPublished = async (house: House, ...bodies: readonly Json[]): Promise<void> => {
  await house.world.queue.sendMany(
    ACTIVITY_QUEUE.name,
    bodies.map((body) => ({ body })),
  );
  await whenWorked(house);
};

const knownOf = ({ world, table, account }: House, email = "ann@x.com") =>
  findKnown(table, addressHash(world, account, email));

const countersOf = async (house: House, email?: string) => {
  const known = await knownOf(house, email);
  if (!known) return {};
  const { delivered, bounced, complained, opens, clicks, machine, rejected, delayed } = known;
  const all = { delivered, bounced, complained, opens, clicks, machine, rejected, delayed };
  return Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0));
};

const TYPES = [
  ["Delivery", { delivered: 1 }],
  ["Bounce", { bounced: 1 }],
  ["Complaint", { complained: 1 }],
  ["Open", { opens: 1 }],
  ["Click", { clicks: 1 }],
  ["Reject", { rejected: 1 }],
  ["DeliveryDelay", { delayed: 1 }],
  ["Send", {}],
  ["Rendering Failure", {}],
  ["Subscription", {}],
] as const;

test.each(TYPES)(
  "a %s of SES comes to %o, raw and in an envelope, once however often",
  async (type, counters) => {
    const house = await given();
    const event = sesEvent(type, house);

    await whenPublished(house, event, inEnvelope(event), inEnvelope(event, "sns-2"), event);

    expect(await countersOf(house)).toEqual(counters);
    expect(house.queue.pending()).toBe(0);
  },
);

test.each(["Bounce", "Complaint", "Delivery"])(
  "the older notification of a %s counts as the event does",
  async (type) => {
    const house = await given();
    const { eventType, ...rest } = sesEvent(type, house);

    await whenPublished(house, { notificationType: eventType ?? "", ...rest });

    expect(Object.values(await countersOf(house))).toEqual([1]);
  },
);

test("an open tells when, and what a person was reading with is kept nowhere", async () => {
  const house = await given();
  await whenPublished(house, sesEvent("Open", house));

  expect(await knownOf(house)).toMatchObject({ lastOpen: LATER });
  expect(JSON.stringify(storedIn(house))).not.toMatch(/iPhone|192\.0\.2|ann@|0100-mail/);
});

test.each([
  ["Apple's mail privacy protection", "Mozilla/5.0", LATER],
  ["a scanner, seconds after the mail was sent", "Mozilla/5.0 (X11)", "2026-11-20T09:00:04.000Z"],
])("an open by %s is a machine's", async (_case, userAgent, timestamp) => {
  const house = await given();
  await whenPublished(house, sesEvent("Open", house, { open: { timestamp, userAgent } }));

  expect(await countersOf(house)).toEqual({ machine: 1 });
});

test("a bounce of several recipients counts for each, and an open of such a mail for nobody", async () => {
  const house = await given();
  const mail = { ...house, to: ["ann@x.com", "Bo <bo@x.com>", "no address"] };

  await whenPublished(house, sesEvent("Bounce", mail), sesEvent("Open", mail));

  expect(await countersOf(house)).toEqual({ bounced: 1 });
  expect(await countersOf(house, "bo@x.com")).toEqual({ bounced: 1 });
  expect(house.queue.pending()).toBe(0);
});

test("whoever says that a mail is no spam has not complained about it", async () => {
  const house = await given();
  const complaint = {
    timestamp: LATER,
    feedbackId: "0100-complaint-2",
    complaintFeedbackType: "not-spam",
    complainedRecipients: [{ emailAddress: "ann@x.com" }],
  };

  await whenPublished(house, sesEvent("Complaint", house, { complaint }));

  expect(await countersOf(house)).toEqual({});
  expect(house.queue.pending()).toBe(0);
});

test("two links clicked at the same moment are two clicks", async () => {
  const house = await given();
  const click = (link: string) => sesEvent("Click", house, { click: { timestamp: LATER, link } });

  await whenPublished(house, click("https://shop.example/a"), click("https://shop.example/b"));

  expect(await countersOf(house)).toEqual({ clicks: 2 });
});

test("without a tag an event is the account's that the operator set", async () => {
  const house = await given();
  const settings = { ...house.world.settings, sesAccount: house.account };

  await whenPublished({ ...house, world: { ...house.world, settings } }, sesEvent("Delivery"));

  expect(await countersOf(house)).toEqual({ delivered: 1 });
});

const ready = {
  notificationType: "AmazonSnsSubscriptionSucceeded",
  message: "Your topic gets the bounces of shop.example now.",
};

test.each([
  [
    "what SES says when a topic is set up",
    "Successfully validated SNS topic for Amazon SES event publishing.",
  ],
  [
    "the same in an envelope",
    inEnvelope("Successfully validated SNS topic for Amazon SES event publishing."),
  ],
  ["what SES says when notifications are set up", ready],
  ["the same in an envelope", inEnvelope(JSON.stringify(ready))],
  ["a confirmation of SNS", { ...inEnvelope("Confirm"), Type: "SubscriptionConfirmation" }],
])("%s is done and counts nothing", async (_case, body) => {
  const house = await given();
  await whenPublished(house, body);

  expect(house.queue.pending()).toBe(0);
});

const without = (event: Readonly<Record<string, Json>>, field: string): Json =>
  Object.fromEntries(Object.entries(event).filter(([name]) => name !== field));

test.each([
  ["no JSON", "{"],
  ["a number", 7],
  ["an empty object", {}],
  ["an envelope of no JSON", inEnvelope("{")],
  ["no type", without(sesEvent("Open", { account: "acc_1" }), "eventType")],
  ["a type that SES does not have", sesEvent("Look", { account: "acc_1" })],
  ["no mail", without(sesEvent("Open", { account: "acc_1" }), "mail")],
  ["no part of its own", without(sesEvent("Open", { account: "acc_1" }), "open")],
  [
    "a moment that is none",
    sesEvent("Open", { account: "acc_1" }, { open: { timestamp: "yesterday" } }),
  ],
  [
    "recipients that are no list",
    sesEvent(
      "Delivery",
      { account: "acc_1" },
      { delivery: { timestamp: LATER, recipients: "ann" } },
    ),
  ],
  ["nobody's account", sesEvent("Open")],
  ["an account that there is not", sesEvent("Open", { account: "acc_9" })],
])(
  "a message with %s goes to the dead letters, and holds up no other",
  async (_case, malformed) => {
    const house = await given();
    await whenPublished(house, sesEvent("Click", house), malformed, sesEvent("Open", house));
    const first = await countersOf(house);
    for (let hour = 0; hour < ACTIVITY_QUEUE.receivesMax; hour++) {
      house.later(3_600_000);
      await whenWorked(house);
    }
    await whenPublished(house, sesEvent("Delivery", house));

    expect(first).toEqual({ opens: 1, clicks: 1 });
    expect(await house.queue.countDead()).toBe(1);
    expect(await countersOf(house)).toEqual({ opens: 1, clicks: 1, delivered: 1 });
  },
);
