import type { AppWorld } from "@mailproof/core/app-world";
import { jobKey } from "@mailproof/core/jobs/items";
import { audit } from "@mailproof/core/money/audit";
import { expect, test } from "vitest";
import { slow } from "../breaking.ts";
import { given } from "../given.ts";
import { jobIn } from "../jobs.ts";
import { creditsOf, movesOf, newsIn, thenInOrder } from "../ledger.ts";
import { whenVerified } from "../send.ts";
import { whenReconciled, whenWorked } from "../working.ts";

// POST /v1/verify of what may become known: it goes on as a job, for the one price, whatever the cause is.

const MINUTE_MS = 60_000;

type House = Awaited<ReturnType<typeof given>>;

/** At which minutes the job is done, looked at every minute. */
const minutesTaken = async (house: House): Promise<number> => {
  for (let minute = 0; minute < 60; minute++) {
    await whenWorked(house);
    if ((await jobIn(house)).status === "completed") return minute;
    house.later(MINUTE_MS);
    await whenReconciled(house);
  }
  throw new Error("the job is never done");
};

const pending = { statusCode: 200, data: { status: "pending", job_id: "job_1", credits_used: 1 } };

test.each([
  ["a host that greylists", "greylisted@x.com", "greylisted", 36],
  ["a host that is silent", "unknown@x.com", "timeout", 5],
  ["a domain whose DNS fails", "ann@dnsfail.com", "dns_inconclusive", 26],
])(
  "%s is pending at once, charged once, and unknown in the end",
  async (_case, email, reason, minutes) => {
    const house = await given({ balance: 10 });

    const told = await whenVerified(house.world, house.liveKey, { email }, "k1");

    expect(told).toMatchObject(pending);
    expect(await jobIn(house)).toMatchObject({
      status: "processing",
      deferred: { count: 1, by_reason: { [reason]: 1 } },
    });
    expect(await creditsOf(house)).toMatchObject({ available: 9, held: 1, spent: 0 });
    expect(await minutesTaken(house)).toBe(minutes);
    const job = await jobIn(house);
    expect(job).toMatchObject({ status: "completed", results: [{ status: "unknown", reason }] });
    expect(job).not.toHaveProperty("deferred");
    expect(movesOf(house)).toEqual(["hold 1", "settle 1"]);
    expect(newsIn(house)).toEqual(["job.completed"]);
    const again = await whenVerified(house.world, house.liveKey, { email }, "k1");
    expect(again.data).toMatchObject({ job_id: "job_1", credits_used: 0, idempotent_replay: true });
    expect(await audit(house.table, house.world.now())).toMatchObject({ ok: true });
  },
);

test.each([
  ["a host that refuses us", "blocked@x.com", "unknown"],
  ["a full mailbox", "full@x.com", "risky"],
  ["a mailbox that is not there", "invalid@x.com", "invalid"],
])("%s is answered at once, for good", async (_case, email, status) => {
  const house = await given({ balance: 10 });

  const told = await whenVerified(house.world, house.liveKey, { email });

  expect(told).toMatchObject({ statusCode: 200, data: { status, credits_used: 1 } });
  expect(movesOf(house)).toEqual(["hold 1", "settle 1"]);
  expect(house.table.items().filter(({ pk }) => pk.startsWith("JOB#"))).toEqual([]);
});

test("whether the wait was over first makes no difference but the first attempt's minute", async () => {
  const house = await given({ balance: 10 });
  const late = { ...house, world: slow(house, 11_000) };

  expect(
    await whenVerified(late.world, house.liveKey, { email: "greylisted@x.com" }),
  ).toMatchObject(pending);

  expect(await minutesTaken(house)).toBe(36);
  expect(movesOf(house)).toEqual(["hold 1", "settle 1"]);
  await thenInOrder(house);
});

test("a verdict of a later attempt is the job's, and is told for half the price the same day", async () => {
  const house = await given({ balance: 10 });
  await whenVerified(house.world, house.liveKey, { email: "greylisted@x.com" });
  const { engine } = house.world;
  const probe: AppWorld["engine"]["probe"] = (question) =>
    engine.probe({ ...question, recipient: "ann@x.com" });
  const taking = { ...house, world: { ...house.world, engine: { ...engine, probe } } };

  expect(await minutesTaken(taking)).toBe(6);

  expect((await jobIn(house)).results).toMatchObject([{ status: "valid" }]);
  const again = await whenVerified(house.world, house.liveKey, { email: "greylisted@x.com" });
  expect(again.data).toMatchObject({ status: "valid", cached: true, credits_used: 0.5 });
});

test("a process that is gone before it answered is followed by the job, which waits and is paid once", async () => {
  const house = await given({ balance: 10 });
  const mute = { ...house.queue, sendMany: async () => ["unknown" as const] };

  await whenVerified({ ...house.world, queue: mute }, house.liveKey, { email: "unknown@x.com" });

  expect(await minutesTaken(house)).toBe(5);
  expect(movesOf(house)).toEqual(["hold 1", "settle 1"]);
  await thenInOrder(house);
});

test("a job that an earlier release deferred goes on by the schedule of greylisting", async () => {
  const house = await given({ balance: 10 });
  await whenVerified(house.world, house.liveKey, { email: "greylisted@x.com" });
  // Earlier releases counted the waits, and did not write why.
  await house.table.write({ update: jobKey("job_1"), set: { retry: undefined } });

  expect(await minutesTaken(house)).toBe(36);
  expect(movesOf(house)).toEqual(["hold 1", "settle 1"]);
});
