import type { AppWorld } from "@mailproof/core/app-world";
import type { Message } from "@mailproof/core/ports/queue";
import { expect, test } from "vitest";
import { whenReconciled, whenWorked } from "../../drain-queues.ts";
import {
  createEmails,
  givenChunked,
  type TestContext,
  whenBatched,
  whenProcessed,
} from "../../jobs.ts";
import { whenVerified } from "../../send.ts";
import { givenHook, whenEventEmitted } from "../../webhooks.ts";

// The group of each message: the queues can be fair to accounts only if messages name their account.

type Noting = { readonly world: AppWorld; readonly sent: (queue: string) => readonly Message[] };

/** The same world, and every message that was sent in it. */
const recordSent = (world: AppWorld): Noting => {
  const all: (readonly [string, Message])[] = [];
  const sendMany: AppWorld["queue"]["sendMany"] = (name, messages) => {
    all.push(...messages.map((message) => [name, message] as const));
    return world.queue.sendMany(name, messages);
  };
  return {
    world: { ...world, queue: { ...world.queue, sendMany } },
    sent: (queue) => all.filter(([name]) => name === queue).map(([, message]) => message),
  };
};

const getShare = ({ group, weight, order, isLowPriority: isLast }: Message) => ({
  group,
  weight,
  order,
  isLowPriority: isLast,
});

const ways: readonly [string, (ctx: TestContext, emails: readonly string[]) => Promise<unknown>][] =
  [
    ["a batch", ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails })],
    ["a file", (ctx, emails) => whenProcessed(ctx, emails)],
  ];

test.each(ways)(
  "%s is queued for its account by rows, and by its size",
  async (_case, whenSent) => {
    const ctx = await givenChunked({ rows: 2 });
    const { world, sent } = recordSent(ctx.world);

    await whenSent({ ...ctx, world }, createEmails(5));

    const share = { group: ctx.account, order: 5, isLowPriority: false };
    expect(sent("chunks").map(getShare)).toEqual([
      { ...share, weight: 2 },
      { ...share, weight: 2 },
      { ...share, weight: 1 },
    ]);
  },
);

test("a test key's job is queued for the same account, and last", async () => {
  const ctx = await givenChunked({ rows: 2 });
  const { world, sent } = recordSent(ctx.world);

  await whenBatched(world, ctx.testKey, { emails: createEmails(1) });

  expect(sent("chunks").map(getShare)).toEqual([
    { group: ctx.account, weight: 1, order: 1, isLowPriority: true },
  ]);
});

test("the weight of a later pass is its number of rows, not the chunk's", async () => {
  const ctx = await givenChunked({ rows: 5 });
  await whenBatched(ctx.world, ctx.liveKey, { emails: [...createEmails(4), "greylisted@x.com"] });
  await whenWorked(ctx);
  const { world, sent } = recordSent(ctx.world);
  ctx.later(6 * 60_000);

  await whenReconciled({ world });

  expect(sent("chunks").map(getShare)).toEqual([
    { group: ctx.account, weight: 1, order: 1, isLowPriority: false },
  ]);
});

test("a single verification that continues in the background is queued for its account", async () => {
  const ctx = await givenChunked({ rows: 5 });
  const { world, sent } = recordSent(ctx.world);

  await whenVerified(world, ctx.liveKey, { email: "slow@x.com" });

  expect(sent("singles").map(getShare)).toMatchObject([
    { group: ctx.account, isLowPriority: false },
  ]);
});

test("an event and its deliveries are queued for their account", async () => {
  const ctx = await givenHook();
  const { world, sent } = recordSent(ctx.world);
  await whenEventEmitted({ ...ctx, world });

  await whenWorked({ ...ctx, world });
  ctx.later(60_000);
  await whenReconciled({ world });
  await whenWorked({ ...ctx, world });

  const groups = [...sent("events"), ...sent("deliveries")].map(({ group }) => group);
  expect(sent("deliveries").length).toBeGreaterThan(0);
  expect(new Set(groups)).toEqual(new Set([ctx.account]));
});
