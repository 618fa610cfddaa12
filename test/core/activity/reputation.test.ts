import { SHARDS } from "@mailproof/core/activity/items";
import { recordEvents } from "@mailproof/core/activity/record";
import {
  findDomainActivity,
  NO_REPUTATION,
  SCORE_PARTS,
} from "@mailproof/core/activity/reputation";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import {
  ADDRESSES_MIN,
  createEvent,
  DAY_MS,
  type SentEvent,
  toRecordedEvent,
} from "../../things/activity.ts";

const PAYER = { account: "acc_1", mode: "live", plan: "pro" } as const;

type Wave = {
  readonly days: number;
  readonly contributors?: number;
  readonly opening?: number;
  readonly bouncing?: number;
  readonly complaining?: number;
};

/** A mailing to so many people of x.com, of whom some bounce and of the others some open and complain. */
const mailing = ({
  days,
  contributors: people = 100,
  opening = 0,
  bouncing = 0,
  complaining = 0,
}: Wave): SentEvent[] =>
  Array.from({ length: people }, (_, n) => `p${n}@x.com`).flatMap((email, n) => {
    const hasBounced = n >= people - bouncing;
    return [
      createEvent(hasBounced ? "bounce" : "delivery", days, { email }),
      ...(n < opening ? [createEvent("open", days, { email })] : []),
      ...(n < complaining ? [createEvent("complaint", days, { email })] : []),
    ];
  });

const readReputationAfter = async (...waves: readonly Wave[]) => {
  const ctx = givenWorld();
  const source = { account: PAYER.account, channel: "api" } as const;
  for (const wave of waves)
    await recordEvents(ctx.world, source, mailing(wave).map(toRecordedEvent));
  return { ...ctx, reputation: await findDomainActivity(ctx.world, PAYER, "x.com") };
};

test.each<[string, Wave, object]>([
  [
    "mail that is opened and never bounces",
    { days: 3, opening: 40 },
    { score: 100, level: "excellent", engagement: 0.4, bounce: 0, spam: 0 },
  ],
  [
    "mail that few open",
    { days: 3, opening: 10 },
    { score: 73, level: "good", engagement: 0.1, bounce: 0, spam: 0 },
  ],
  [
    "mail without opens",
    { days: 3 },
    { score: 60, level: "fair", engagement: 0, bounce: 0, spam: 0 },
  ],
  [
    "mail of which a tenth bounces and that is complained about",
    { days: 3, opening: 30, bouncing: 10, complaining: 9 },
    { score: 40, level: "poor", engagement: 0.3333, bounce: 0.1, spam: 0.1 },
  ],
])("a domain has its score and its level after %s", async (_case, wave, expected) => {
  const { reputation } = await readReputationAfter(wave);

  expect(reputation).toMatchObject({ ...expected, activeAddresses: 100, trend: "unknown" });
});

test("the parts of the score add up to a hundred", () => {
  expect(SCORE_PARTS.reduce((sum, { points }) => sum + points, 0)).toBe(100);
});

test("a domain with fewer people than a group needs has no reputation", async () => {
  const { reputation: few } = await readReputationAfter({
    days: 1,
    contributors: ADDRESSES_MIN - 1,
  });
  const { reputation: enough } = await readReputationAfter({
    days: 1,
    contributors: ADDRESSES_MIN,
  });

  expect(few).toEqual(NO_REPUTATION);
  expect(enough).toMatchObject({ activeAddresses: ADDRESSES_MIN, level: "fair" });
});

test("many mails to few people do not make a group", async () => {
  const waves = Array.from({ length: 25 }, (_, n) => ({ days: n, contributors: 3 }));

  expect((await readReputationAfter(...waves)).reputation).toEqual(NO_REPUTATION);
});

test("a person counts once, however many mails there were", async () => {
  const { reputation } = await readReputationAfter({ days: 1 }, { days: 2 }, { days: 20 });

  expect(reputation.activeAddresses).toBe(100);
});

test.each<[string, Wave, Wave, string]>([
  ["more open than before", { days: 5, opening: 30 }, { days: 40, opening: 10 }, "improving"],
  ["fewer open", { days: 5, opening: 10 }, { days: 40, opening: 30 }, "declining"],
  ["hardly anything changed", { days: 5, opening: 12 }, { days: 40, opening: 10 }, "stable"],
  [
    "there were too few to tell",
    { days: 5 },
    { days: 40, contributors: ADDRESSES_MIN - 1 },
    "unknown",
  ],
  ["it is too long ago", { days: 5 }, { days: 62 }, "unknown"],
])("the trend when %s", async (_case, lately, before, trend) => {
  expect((await readReputationAfter(before, lately)).reputation.trend).toBe(trend);
});

test("few people on many days do not make a group to compare with", async () => {
  const before = Array.from({ length: 20 }, (_, n) => ({ days: 35 + n, contributors: 3 }));

  expect((await readReputationAfter(...before, { days: 5 })).reputation.trend).toBe("unknown");
});

test("a domain without events for a month has no reputation", async () => {
  const { world, later } = await readReputationAfter({ days: 0 });
  later(30 * DAY_MS);
  const still = await findDomainActivity(world, PAYER, "x.com");
  later(DAY_MS);

  expect(still.activeAddresses).toBe(100);
  expect(await findDomainActivity(world, PAYER, "x.com")).toEqual(NO_REPUTATION);
});

test("opens alone give no rate, and so no score", async () => {
  const { world } = givenWorld();
  const opens = mailing({ days: 1, opening: 100 }).filter(({ type }) => type === "open");
  await recordEvents(world, { account: PAYER.account, channel: "api" }, opens.map(toRecordedEvent));

  expect(await findDomainActivity(world, PAYER, "x.com")).toEqual({
    ...NO_REPUTATION,
    activeAddresses: 100,
  });
});

test("a domain's day is written to sixteen partitions, of which none has more than its share", async () => {
  const { table } = await readReputationAfter({ days: 1, contributors: 800 });
  const shards = table.items().filter(({ pk }) => pk.startsWith("ACTIVITYDAYS#"));

  expect(shards).toHaveLength(SHARDS);
  expect(Math.max(...shards.map(({ delivered }) => Number(delivered ?? 0)))).toBeLessThan(100);
});
