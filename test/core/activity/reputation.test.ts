import { SHARDS } from "@mailproof/core/activity/items";
import { recordEvents } from "@mailproof/core/activity/record";
import {
  findDomainActivity,
  NO_REPUTATION,
  SCORE_PARTS,
} from "@mailproof/core/activity/reputation";
import { expect, test } from "vitest";
import { givenWorld } from "../../app/given.ts";
import { asRows } from "../../runner/as-rows.ts";
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

test.each(asRows<[string, Wave, object]>`
  mail that is opened and never bounces | ${{ days: 3, opening: 40 }} | ${{ score: 100, level: "excellent", engagement: 0.4, bounce: 0, spam: 0 }}
  mail that few open | ${{ days: 3, opening: 10 }} | ${{ score: 73, level: "good", engagement: 0.1, bounce: 0, spam: 0 }}
  mail without opens | ${{ days: 3 }} | ${{ score: 60, level: "fair", engagement: 0, bounce: 0, spam: 0 }}
  mail of which a tenth bounces and that is complained about | ${{ days: 3, opening: 30, bouncing: 10, complaining: 9 }}
    | ${{ score: 40, level: "poor", engagement: 0.3333, bounce: 0.1, spam: 0.1 }}
`)(
  "the report returns the expected score and level of a domain after %s",
  async (_case, wave, expected) => {
    const { reputation } = await readReputationAfter(wave);

    expect(reputation).toMatchObject({ ...expected, activeAddresses: 100, trend: "unknown" });
  },
);

test("the parts of the reputation score add up to 100", () => {
  expect(SCORE_PARTS.reduce((sum, { points }) => sum + points, 0)).toBe(100);
});

test("the report returns no reputation for a domain with fewer people than a group needs", async () => {
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

test("the report returns no reputation for a domain when few people received many mails", async () => {
  const waves = Array.from({ length: 25 }, (_, n) => ({ days: n, contributors: 3 }));

  expect((await readReputationAfter(...waves)).reputation).toEqual(NO_REPUTATION);
});

test("the report counts each person once, however many mails the person received", async () => {
  const { reputation } = await readReputationAfter({ days: 1 }, { days: 2 }, { days: 20 });

  expect(reputation.activeAddresses).toBe(100);
});

test.each(asRows<[string, Wave, Wave, string]>`
  more people open than before | ${{ days: 5, opening: 30 }} | ${{ days: 40, opening: 10 }} | improving
  fewer people open than before | ${{ days: 5, opening: 10 }} | ${{ days: 40, opening: 30 }} | declining
  the share of opens hardly changes | ${{ days: 5, opening: 12 }} | ${{ days: 40, opening: 10 }} | stable
  the earlier period has too few people | ${{ days: 5 }} | ${{ days: 40, contributors: ADDRESSES_MIN - 1 }} | unknown
  the earlier period is too long ago | ${{ days: 5 }} | ${{ days: 62 }} | unknown
`)(
  "the trend of a reputation follows from two periods: %s",
  async (_case, lately, before, trend) => {
    expect((await readReputationAfter(before, lately)).reputation.trend).toBe(trend);
  },
);

test("the trend is unknown when few people received mail on many days of the earlier period", async () => {
  const before = Array.from({ length: 20 }, (_, n) => ({ days: 35 + n, contributors: 3 }));

  expect((await readReputationAfter(...before, { days: 5 })).reputation.trend).toBe("unknown");
});

test("the report returns no reputation for a domain without events for a month", async () => {
  const { world, later } = await readReputationAfter({ days: 0 });
  later(30 * DAY_MS);
  const still = await findDomainActivity(world, PAYER, "x.com");
  later(DAY_MS);

  expect(still.activeAddresses).toBe(100);
  expect(await findDomainActivity(world, PAYER, "x.com")).toEqual(NO_REPUTATION);
});

test("the report computes no rate and no score from opens alone", async () => {
  const { world } = givenWorld();
  const opens = mailing({ days: 1, opening: 100 }).filter(({ type }) => type === "open");
  await recordEvents(world, { account: PAYER.account, channel: "api" }, opens.map(toRecordedEvent));

  expect(await findDomainActivity(world, PAYER, "x.com")).toEqual({
    ...NO_REPUTATION,
    activeAddresses: 100,
  });
});

test("a day's events at one domain spread evenly over 16 partitions", async () => {
  const { table } = await readReputationAfter({ days: 1, contributors: 800 });
  const shards = table.items().filter(({ pk }) => pk.startsWith("ACTIVITYDAYS#"));

  expect(shards).toHaveLength(SHARDS);
  expect(Math.max(...shards.map(({ delivered }) => Number(delivered ?? 0)))).toBeLessThan(100);
});
