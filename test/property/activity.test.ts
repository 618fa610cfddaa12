import { hashAddress, listDomainHashes } from "@mailproof/core/accounts/hashes";
import { ACTIVITY_LEVELS, getActivityLevel } from "@mailproof/core/activity/activity-level";
import { MAIL_EVENT_TYPES, toEventKind } from "@mailproof/core/activity/events";
import {
  DAY_SUMS,
  findRecord,
  readDay,
  SHARDS,
  toDaysPartition,
} from "@mailproof/core/activity/items";
import { recordEvents } from "@mailproof/core/activity/record";
import { paginateQuery } from "@mailproof/core/lib/paginate-query";
import fc from "fast-check";
import { expect, test } from "vitest";
import { givenWorld, START } from "../app/given.ts";
import { daysAgo, type SentEvent, toRecordedEvent } from "../things/activity.ts";

const SOURCE = { account: "acc_1", channel: "api" } as const;
const EMAILS = ["ann@x.com", "bo@x.com", "cy@y.com"];

/** Who sees a person more recently never thinks less of it. */
const rank = (level: (typeof ACTIVITY_LEVELS)[number]): number =>
  ACTIVITY_LEVELS.length - ACTIVITY_LEVELS.indexOf(level);

const msAgo = fc.integer({ min: 0, max: 400 * 86_400_000 });
const at = (ms: number) => new Date(START.getTime() - ms).toISOString();

test("the level never falls with a later last_seen, whenever the history began", () => {
  fc.assert(
    fc.property(msAgo, msAgo, msAgo, msAgo, (one, two, since, into) => {
      const now = new Date(START.getTime() + (into % 86_400_000));
      const [earlier, later] = [Math.max(one, two), Math.min(one, two)];
      const before = getActivityLevel(at(earlier), at(since), now);
      const after = getActivityLevel(at(later), at(since), now);
      expect(rank(after)).toBeGreaterThanOrEqual(rank(before));
      expect(before).not.toBe("unknown");
    }),
    { numRuns: 2_000 },
  );
});

test("the engagement level falls as time passes, and never rises without an event", () => {
  fc.assert(
    fc.property(msAgo, msAgo, msAgo, (seen, wait, more) => {
      const [soon, late] = [wait, wait + more].map((ms) =>
        getActivityLevel(at(seen), at(seen), new Date(START.getTime() + ms)),
      );
      expect(rank(late ?? "unknown")).toBeLessThanOrEqual(rank(soon ?? "unknown"));
    }),
  );
});

/** The id says all the rest, as with a sender who does not lie. */
const sent: fc.Arbitrary<SentEvent> = fc
  .record({
    type: fc.constantFrom(...MAIL_EVENT_TYPES),
    email: fc.constantFrom(...EMAILS),
    days: fc.constantFrom(0, 0.2, 1, 2, 29, 31, 61, 89, 95, 200, 399, 402),
    isSoon: fc.boolean(),
  })
  .map(({ type, email, days, isSoon }) => ({
    id: `${type} ${email} ${days} ${isSoon}`,
    type,
    email,
    occurred_at: daysAgo(days),
    ...(isSoon && { delivered_at: daysAgo(days) }),
  }));

/** Some events, and two ways to tell them: in some order, some again, cut into requests somewhere. */
const histories = fc
  .uniqueArray(sent, { selector: ({ id }) => id, maxLength: 40 })
  .chain((events) => {
    const way = fc
      .tuple(
        fc.shuffledSubarray(events, { minLength: events.length }),
        events.length > 0
          ? fc.array(fc.constantFrom(...events), { maxLength: 10 })
          : fc.constant([]),
        fc.integer({ min: 1, max: 12 }),
      )
      .map(([all, again, size]) => cut([...all, ...again], size));
    return fc.tuple(fc.constant(events), way, way);
  });

const cut = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, n) =>
    all.slice(n * size, (n + 1) * size),
  );

const countEvents = async (requests: readonly (readonly SentEvent[])[], atOnce = false) => {
  const ctx = givenWorld();
  const record = (one: readonly SentEvent[]) =>
    recordEvents(ctx.world, SOURCE, one.map(toRecordedEvent));
  const recorded = [];
  if (atOnce) recorded.push(...(await Promise.all(requests.map(record))));
  else for (const one of requests) recorded.push(await record(one));
  return { ...ctx, accepted: recorded.reduce((sum, { accepted }) => sum + accepted, 0) };
};

type TestContext = Awaited<ReturnType<typeof countEvents>>;

const readRecords = ({ world, table }: TestContext) =>
  Promise.all(
    EMAILS.map(async (email) => {
      const record = await findRecord(table, hashAddress(world, SOURCE.account, email));
      return record && { ...record, rev: 0 };
    }),
  );

const readSums = async ({ world, table }: TestContext, domain: string) => {
  const [hash] = listDomainHashes(world, SOURCE.account, domain);
  const sums: Record<string, number> = {};
  for (let shard = 0; shard < SHARDS; shard++)
    for await (const item of paginateQuery(table, { pk: toDaysPartition(hash, shard) })) {
      const day = readDay(item);
      for (const sum of DAY_SUMS) {
        const name = `${day.day} ${sum}`;
        if (day[sum] !== 0) sums[name] = (sums[name] ?? 0) + day[sum];
      }
    }
  return sums;
};

/** What they should come to, counted the simple way. */
const toExpected = (events: readonly SentEvent[], email: string) => {
  const kinds = events
    .filter((one) => one.email === email && one.occurred_at >= daysAgo(400))
    .map((one) => toEventKind(toRecordedEvent(one)));
  const count = (kind: string) => kinds.filter((one) => one === kind).length;
  return {
    opens: count("open"),
    clicks: count("click"),
    machine: count("machine"),
    delivered: count("delivery"),
    bounced: count("bounce"),
    complained: count("complaint"),
    rejected: count("reject"),
    delayed: count("delay"),
  };
};

test("totals equal the sum of the distinct events, in any order, with repeats and in any requests", async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.boolean(), async ([events, one, other], atOnce) => {
      const [first, second] = [await countEvents(one), await countEvents(other, atOnce)];
      const timely = events.filter(({ occurred_at }) => occurred_at >= daysAgo(400));

      expect([first.accepted, second.accepted]).toEqual([timely.length, timely.length]);
      const records = await readRecords(first);
      expect(await readRecords(second)).toEqual(records);
      for (const [n, email] of EMAILS.entries())
        expect(records[n] ?? toExpected([], email)).toMatchObject(toExpected(events, email));
    }),
    { numRuns: 200 },
  );
});

test("a domain's days are equal for every order of events, and count each address once, on its last day", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async ([events, one, other]) => {
      const [first, second] = [await countEvents(one), await countEvents(other, true)];

      for (const domain of ["x.com", "y.com"]) {
        const sums = await readSums(first, domain);
        expect(await readSums(second, domain)).toEqual(sums);
        const own = events.filter(
          ({ email, occurred_at }) => email.endsWith(`@${domain}`) && occurred_at >= daysAgo(90.99),
        );
        const seenAddresses = new Set(
          own.map(({ email, occurred_at }) => email + occurred_at.slice(0, 10)),
        );
        const add = (suffix: string) =>
          Object.entries(sums).reduce(
            (sum, [name, count]) => sum + (name.endsWith(suffix) ? count : 0),
            0,
          );
        expect(add(" active")).toBe(seenAddresses.size);
        expect(add(" people")).toBe(new Set(own.map(({ email }) => email)).size);
        const engaged = own.filter((event) =>
          ["open", "click"].includes(toEventKind(toRecordedEvent(event))),
        );
        const days = engaged.map(({ email, occurred_at }) => email + occurred_at.slice(0, 10));
        expect(add(" engaged")).toBe(new Set(days).size);
        expect(add(" delivered")).toBe(own.filter(({ type }) => type === "delivery").length);
        expect(Object.values(sums).every((count) => count > 0)).toBe(true);
      }
    }),
    { numRuns: 200 },
  );
});
