import type { AppWorld } from "@mailproof/core/app-world";
import type { Message } from "@mailproof/core/queue";
import { expect, test } from "vitest";
import { anns, givenChunked, type House, whenBatched, whenProcessed } from "../../jobs.ts";
import { whenVerified } from "../../send.ts";
import { givenHook, whenAnnounced } from "../../webhooks.ts";
import { whenReconciled, whenWorked } from "../../working.ts";

// Whose turn each message takes: the queues can only be fair to accounts whose messages say so.

type Noting = { readonly world: AppWorld; readonly sent: (queue: string) => readonly Message[] };

/** The same world, and every message that was sent in it. */
const noting = (world: AppWorld): Noting => {
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

const shareOf = ({ group, weight, order, isLast }: Message) => ({ group, weight, order, isLast });

const ways: readonly [string, (house: House, emails: readonly string[]) => Promise<unknown>][] = [
  ["a batch", ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails })],
  ["a file", (house, emails) => whenProcessed(house, emails)],
];

test.each(ways)(
  "%s is queued for its account by rows, and by its size",
  async (_case, whenSent) => {
    const house = await givenChunked({ rows: 2 });
    const { world, sent } = noting(house.world);

    await whenSent({ ...house, world }, anns(5));

    const share = { group: house.account, order: 5, isLast: false };
    expect(sent("chunks").map(shareOf)).toEqual([
      { ...share, weight: 2 },
      { ...share, weight: 2 },
      { ...share, weight: 1 },
    ]);
  },
);

test("what a test key asks for is queued for the same account, and last", async () => {
  const house = await givenChunked({ rows: 2 });
  const { world, sent } = noting(house.world);

  await whenBatched(world, house.testKey, { emails: anns(1) });

  expect(sent("chunks").map(shareOf)).toEqual([
    { group: house.account, weight: 1, order: 1, isLast: true },
  ]);
});

test("a later pass weighs the rows that it is over, and not the chunk's", async () => {
  const house = await givenChunked({ rows: 5 });
  await whenBatched(house.world, house.liveKey, { emails: [...anns(4), "greylisted@x.com"] });
  await whenWorked(house);
  const { world, sent } = noting(house.world);
  house.later(6 * 60_000);

  await whenReconciled({ world });

  expect(sent("chunks").map(shareOf)).toEqual([
    { group: house.account, weight: 1, order: 1, isLast: false },
  ]);
});

test("a single verification that goes on is queued for its account", async () => {
  const house = await givenChunked({ rows: 5 });
  const { world, sent } = noting(house.world);

  await whenVerified(world, house.liveKey, { email: "slow@x.com" });

  expect(sent("singles").map(shareOf)).toMatchObject([{ group: house.account, isLast: false }]);
});

test("an event and its deliveries are queued for their account", async () => {
  const house = await givenHook();
  const { world, sent } = noting(house.world);
  await whenAnnounced({ ...house, world });

  await whenWorked({ ...house, world });
  house.later(60_000);
  await whenReconciled({ world });
  await whenWorked({ ...house, world });

  const groups = [...sent("events"), ...sent("deliveries")].map(({ group }) => group);
  expect(sent("deliveries").length).toBeGreaterThan(0);
  expect(new Set(groups)).toEqual(new Set([house.account]));
});
