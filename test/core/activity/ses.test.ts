import { hashAddress } from "@mailproof/core/accounts/hashes";
import { ACTIVITY_QUEUE } from "@mailproof/core/activity/ingest";
import { findRecord } from "@mailproof/core/activity/items";
import { parseSesMessage } from "@mailproof/core/activity/ses";
import type { Json } from "@mailproof/core/ports/table";
import { toBounceKind } from "@mailproof/mail/bounce-kind";
import { expect, test } from "vitest";
import { whenWorked } from "../../app/drain-queues.ts";
import { given } from "../../app/given.ts";
import { listStoredItems } from "../../app/ledger.ts";
import { asRows } from "../../runner/as-rows.ts";
import { createSesEvent, LATER, wrapInEnvelope } from "../../things/ses.ts";

type TestContext = Awaited<ReturnType<typeof given>>;

const publish = async (ctx: TestContext, ...bodies: readonly Json[]): Promise<void> => {
  await ctx.world.queue.sendMany(
    ACTIVITY_QUEUE.name,
    bodies.map((body) => ({ body })),
  );
  await whenWorked(ctx);
};

const findAnnRecord = ({ world, table, account }: TestContext, email = "ann@x.com") =>
  findRecord(table, hashAddress(world, account, email));

const readCounters = async (ctx: TestContext, email?: string) => {
  const record = await findAnnRecord(ctx, email);
  if (!record) return {};
  const { delivered, bounced, complained, opens, clicks, machine, rejected, delayed } = record;
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
  "a %s of SES counts as %o, raw and in an envelope, and only once when SES repeats the event",
  async (type, counters) => {
    const ctx = await given();
    const event = createSesEvent(type, ctx);

    await publish(ctx, event, wrapInEnvelope(event), wrapInEnvelope(event, "sns-2"), event);

    expect(await readCounters(ctx)).toEqual(counters);
    expect(ctx.queue.pending()).toBe(0);
  },
);

test.each(["Bounce", "Complaint", "Delivery"])(
  "SES's older notification of a %s counts like its event",
  async (type) => {
    const ctx = await given();
    const { eventType, ...others } = createSesEvent(type, ctx);

    await publish(ctx, { notificationType: eventType ?? "", ...others });

    expect(Object.values(await readCounters(ctx))).toEqual([1]);
  },
);

test("an open stores its time, and no item contains the reader's user agent", async () => {
  const ctx = await given();
  await publish(ctx, createSesEvent("Open", ctx));

  expect(await findAnnRecord(ctx)).toMatchObject({ lastOpen: LATER });
  expect(JSON.stringify(listStoredItems(ctx))).not.toMatch(/iPhone|192\.0\.2|ann@|0100-mail/);
});

test.each([
  ["Apple's mail privacy protection", "Mozilla/5.0", LATER],
  ["a scanner, seconds after the mail was sent", "Mozilla/5.0 (X11)", "2026-11-20T09:00:04.000Z"],
])("an open by %s counts as a machine's", async (_case, userAgent, timestamp) => {
  const ctx = await given();
  await publish(ctx, createSesEvent("Open", ctx, { open: { timestamp, userAgent } }));

  expect(await readCounters(ctx)).toEqual({ machine: 1 });
});

test("a bounce of a mail to several recipients counts for each recipient, and an open counts for none", async () => {
  const ctx = await given();
  const mail = { ...ctx, to: ["ann@x.com", "Bo <bo@x.com>", "no address"] };

  await publish(ctx, createSesEvent("Bounce", mail), createSesEvent("Open", mail));

  expect(await readCounters(ctx)).toEqual({ bounced: 1 });
  expect(await readCounters(ctx, "bo@x.com")).toEqual({ bounced: 1 });
  expect(ctx.queue.pending()).toBe(0);
});

test("a report that a mail is not spam counts as no complaint", async () => {
  const ctx = await given();
  const complaint = {
    timestamp: LATER,
    feedbackId: "0100-complaint-2",
    complaintFeedbackType: "not-spam",
    complainedRecipients: [{ emailAddress: "ann@x.com" }],
  };

  await publish(ctx, createSesEvent("Complaint", ctx, { complaint }));

  expect(await readCounters(ctx)).toEqual({});
  expect(ctx.queue.pending()).toBe(0);
});

test("two links clicked at the same moment count as two clicks", async () => {
  const ctx = await given();
  const click = (link: string) =>
    createSesEvent("Click", ctx, { click: { timestamp: LATER, link } });

  await publish(ctx, click("https://shop.example/a"), click("https://shop.example/b"));

  expect(await readCounters(ctx)).toEqual({ clicks: 2 });
});

test("an SES event without a tag counts for the account that the operator configured", async () => {
  const ctx = await given();
  const settings = { ...ctx.world.settings, sesAccount: ctx.account };

  await publish({ ...ctx, world: { ...ctx.world, settings } }, createSesEvent("Delivery"));

  expect(await readCounters(ctx)).toEqual({ delivered: 1 });
});

const ready = {
  notificationType: "AmazonSnsSubscriptionSucceeded",
  message: "Your topic gets the bounces of shop.example now.",
};

test.each(asRows`
  SES's text about a new topic | Successfully validated SNS topic for Amazon SES event publishing.
  SES's text about a new topic in an envelope | ${wrapInEnvelope("Successfully validated SNS topic for Amazon SES event publishing.")}
  SES's text about new notifications | ${ready}
  SES's text about new notifications in an envelope | ${wrapInEnvelope(JSON.stringify(ready))}
  a confirmation of SNS | ${{ ...wrapInEnvelope("Confirm"), Type: "SubscriptionConfirmation" }}
`)("the worker removes %s and counts no event", async (_case, body) => {
  const ctx = await given();
  await publish(ctx, body);

  expect(ctx.queue.pending()).toBe(0);
});

const without = (event: Readonly<Record<string, Json>>, field: string): Json =>
  Object.fromEntries(Object.entries(event).filter(([name]) => name !== field));

test.each(asRows`
  no JSON | {
  an envelope of no JSON | ${wrapInEnvelope("{")}
  no type | ${without(createSesEvent("Open", { account: "acc_1" }), "eventType")}
  an invalid time | ${createSesEvent("Open", { account: "acc_1" }, { open: { timestamp: "yesterday" } })}
  a text in place of the recipients | ${createSesEvent("Delivery", { account: "acc_1" }, { delivery: { timestamp: LATER, recipients: "ann" } })}
  no account | ${createSesEvent("Open")}
  an unknown account | ${createSesEvent("Open", { account: "acc_9" })}
`)(
  "a message with %s becomes a dead letter, and delays no other message",
  async (_case, malformed) => {
    const ctx = await given();
    await publish(ctx, createSesEvent("Click", ctx), malformed, createSesEvent("Open", ctx));
    const first = await readCounters(ctx);
    for (let hour = 0; hour < ACTIVITY_QUEUE.receivesMax; hour++) {
      ctx.later(3_600_000);
      await whenWorked(ctx);
    }
    await publish(ctx, createSesEvent("Delivery", ctx));

    expect(first).toEqual({ opens: 1, clicks: 1 });
    expect(await ctx.queue.countDeadLetters()).toBe(1);
    expect(await readCounters(ctx)).toEqual({ opens: 1, clicks: 1, delivered: 1 });
  },
);

test.each(asRows<[string, Parameters<typeof toBounceKind>[0], ReturnType<typeof toBounceKind>]>`
  an unknown user | ${{ type: "hard", diagnostic: "smtp; 550 5.1.1 user unknown" }} | hard
  the reply alone, without a category | ${{ diagnostic: "550-5.1.1 No such user here" }} | hard
  a disabled mailbox that the sender calls soft | ${{ type: "soft", diagnostic: "554 5.2.1 mailbox disabled" }} | hard
  a full mailbox that the sender calls hard | ${{ type: "hard", diagnostic: "552 5.2.2 mailbox full" }} | soft
  a server that is busy | ${{ type: "hard", diagnostic: "451 4.3.0 try again later" }} | soft
  a block of the sender's address | ${{ type: "hard", diagnostic: "554 5.7.1 Your IP address is listed by Spamhaus" }} | null
  spam | ${{ type: "hard", diagnostic: "550 5.7.1 Message rejected as spam" }} | null
  words that no rule knows | ${{ type: "hard", diagnostic: "550 xyzzy" }} | hard
  unknown words without a category | ${{ diagnostic: "550 xyzzy" }} | null
  a category alone | ${{ type: "soft" }} | soft
  a text without a reply | ${{ type: "hard", diagnostic: "Amazon SES has suppressed sending" }} | hard
  an empty report | ${{}} | null
`)("the bounce kind follows from the report: %s", (_, report, kind) => {
  expect(toBounceKind(report)).toBe(kind);
});

const readSesBounce = (bounce: Record<string, string>, diagnosticCode?: string) => {
  const [event] = parseSesMessage(
    createSesEvent(
      "Bounce",
      {},
      {
        bounce: {
          timestamp: "2026-11-20T09:00:03.000Z",
          feedbackId: "f",
          bouncedRecipients: [
            { emailAddress: "ann@x.com", ...(diagnosticCode !== undefined && { diagnosticCode }) },
          ],
          ...bounce,
        },
      },
    ),
  ).events;
  return toBounceKind(event?.bounce ?? {});
};

test.each([
  ["Permanent", "General", "smtp; 550 5.1.1 user unknown", "hard"],
  ["Permanent", "NoEmail", undefined, "hard"],
  ["Permanent", "General", "smtp; 550 5.7.1 blocked using Spamhaus", null],
  ["Permanent", "Suppressed", "Amazon SES has suppressed sending to this address", null],
  ["Permanent", "OnAccountSuppressionList", undefined, null],
  ["Transient", "MailboxFull", undefined, "soft"],
  ["Transient", "ContentRejected", "smtp; 554 5.6.0 content", null],
  ["Undetermined", "Undetermined", undefined, null],
])(
  "the kind of a bounce of SES follows from its fields: %s, %s, %s",
  (bounceType, bounceSubType, diagnostic, kind) => {
    expect(readSesBounce({ bounceType, bounceSubType }, diagnostic)).toBe(kind);
  },
);
