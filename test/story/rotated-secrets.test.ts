import { findDomainActivity } from "@mailproof/core/activity/reputation";
import type { AppWorld } from "@mailproof/core/app-world";
import type { Payer } from "@mailproof/core/money/payer";
import type { Settings } from "@mailproof/core/ports/settings";
import { decodeProtectedHeader } from "jose";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import {
  ADDRESSES_MIN,
  createEvent,
  whenActivityRead,
  whenEventsSent,
} from "../things/activity.ts";
import {
  givenHook,
  parseEvents,
  verifyCall,
  whenEventEmitted,
  whenScheduledWorkRuns,
} from "../things/webhooks.ts";

// The operator replaces a secret: what the value before guards goes on working, and new data depends on the new value only.

type Rotated = { readonly now: AppWorld; readonly later: AppWorld };

/** The world while the value before is set, and after its removal. */
const rotate = (
  world: AppWorld,
  name: "cursorSecret" | "activityKey" | "encryptionKey",
): Rotated => {
  const after: Settings = { ...world.settings, [name]: `another ${name} of the operator` };
  const before = { [`${name}Before`]: world.settings[name] };
  return {
    now: { ...world, settings: { ...after, ...before } },
    later: { ...world, settings: after },
  };
};

const readEvents = (world: AppWorld, key: string, after?: string) =>
  send(world, "GET /v1/events", { key, query: after === undefined ? {} : { after } });

test("a cursor of the secret before is accepted until its removal, and a new cursor longer", async () => {
  const { world, liveKey } = await given();
  const { now, later } = rotate(world, "cursorSecret");
  const { cursor: old } = (await readEvents(world, liveKey)).data;

  const between = await readEvents(now, liveKey, old);

  expect(between.statusCode).toBe(200);
  expect((await readEvents(later, liveKey, between.data.cursor)).statusCode).toBe(200);
  expect((await readEvents(later, liveKey, old)).statusCode).toBe(400);
});

test("a webhook's secret of the sealing key before signs until its removal, and a new secret longer", async () => {
  const ctx = await givenHook();
  const { now, later } = rotate(ctx.world, "encryptionKey");
  const whenDelivered = async (world: AppWorld) => {
    const before = ctx.servers.received.length;
    await whenEventEmitted(ctx);
    ctx.later(30_000);
    await whenScheduledWorkRuns({ ...ctx, world });
    return ctx.servers.received.slice(before);
  };

  const [old] = await whenDelivered(now);
  const { data } = await send(now, "POST /v1/webhooks/whk_1/secret", { key: ctx.liveKey });
  const renewed = await whenDelivered(later);

  expect(parseEvents(old ? [old] : [])).toMatchObject([{ type: "credits.low" }]);
  expect(renewed.map((call) => verifyCall(data.secret, call).type)).toEqual(["credits.low"]);
});

test("the key set contains the receipts' keys of the sealing key before, and the new key signs", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const { now } = rotate(world, "encryptionKey");
  const body = { email: "ann@example.com", options: { include_receipt: true } };
  const [old, renewed] = [
    await whenVerified(world, liveKey, body),
    await whenVerified(now, liveKey, { ...body, email: "bob@example.com" }),
  ].map(({ data }) => decodeProtectedHeader(data.receipt).kid);

  const { keys } = JSON.parse((await send(now, "GET /.well-known/jwks.json")).text);

  expect(new Set([old, renewed]).size).toBe(2);
  expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual(
    expect.arrayContaining([old, renewed]),
  );
});

test("an activity record of the key before is found, continued by the new key, and counted once", async () => {
  const { world, liveKey } = await given();
  const { now, later } = rotate(world, "activityKey");
  const opened = createEvent("open", 5);
  await whenEventsSent(world, liveKey, createEvent("delivery", 6), opened);

  const found = await whenActivityRead(now, liveKey);
  await whenEventsSent(now, liveKey, opened, createEvent("open", 4));
  const continued = await whenActivityRead(later, liveKey);

  expect(found.data.activity.total_opens).toBe(1);
  expect(continued.data.activity.total_opens).toBe(2);
});

test("a domain's activity adds up the days of both activity keys, and counts each address once", async () => {
  const { world, liveKey, account } = await given();
  const { now } = rotate(world, "activityKey");
  const openAll = (days: number) =>
    Array.from({ length: ADDRESSES_MIN }, (_, at) =>
      createEvent("open", days, { email: `reader${at}@x.com` }),
    );
  await whenEventsSent(world, liveKey, ...openAll(6), createEvent("open", 6));
  await whenEventsSent(now, liveKey, ...openAll(4));

  const activity = await findDomainActivity(now, { account, mode: "live" } as Payer, "x.com");

  expect(activity.activeAddresses).toBe(ADDRESSES_MIN + 1);
});

test("a bounce before the rotation of the activity key counts until the removal of the key before", async () => {
  const { world, liveKey } = await given({ balance: 10 });
  const { now, later } = rotate(world, "activityKey");
  const bounce = (email: string) => createEvent("bounce", 1, { email, bounce_type: "hard" });
  const [ann, bob] = ["ann@example.com", "bob@example.com"];
  await whenEventsSent(world, liveKey, bounce(ann), bounce(bob));

  const [found, forgotten] = [
    await whenVerified(now, liveKey, { email: ann }),
    await whenVerified(later, liveKey, { email: bob }),
  ];

  expect([found.data.reason, forgotten.data.reason]).toEqual(["bounced", "accepted"]);
});

test("an erasure removes the records of both activity keys", async () => {
  const { world, liveKey, table } = await given();
  const { now } = rotate(world, "activityKey");
  const bounce = (days: number) => createEvent("bounce", days, { bounce_type: "hard" });
  await whenEventsSent(world, liveKey, bounce(6));
  await whenEventsSent(now, liveKey, bounce(4));
  const countRecords = () =>
    table.items().filter(({ pk }) => /^(?:ACTIVITY|VERDICT)#/.test(pk)).length;

  const before = countRecords();
  await send(now, "DELETE /v1/data", { key: liveKey, query: { email: "ann@x.com" } });

  expect(before).toBe(4);
  expect(countRecords()).toBe(0);
});
