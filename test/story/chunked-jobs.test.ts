import type { AppWorld } from "@mailproof/core/app-world";
import { unseal } from "@mailproof/core/sealed";
import { readEvent } from "@mailproof/core/webhooks/items";
import { describe, expect, test } from "vitest";
import { fated, goneAfter, turn } from "../breaking.ts";
import {
  anns,
  givenChunked,
  type House,
  jobIn,
  rowsIn,
  whenBatched,
  whenProcessed,
} from "../jobs.ts";
import { creditsOf, movesOf, newsIn, thenInOrder } from "../ledger.ts";
import { whenQuiet, whenReconciled, whenWorked } from "../working.ts";

// What workers make of a job of many addresses, whichever way it came.

const MINUTE_MS = 60_000;

type Sending = (house: House, emails: readonly string[]) => Promise<unknown>;

const asBatch: Sending = ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails });
const asFile: Sending = (house, emails) => whenProcessed(house, emails);

/** The same house with servers that answer an address otherwise each time they are asked. */
const moody = (house: House, moods: Readonly<Record<string, readonly string[]>>): House => {
  const { engine } = house.world;
  const asked = new Map<string, number>();
  const probe: AppWorld["engine"]["probe"] = (question) => {
    const { recipient } = question;
    const turns = moods[recipient];
    if (!turns) return engine.probe(question);
    const now = asked.get(recipient) ?? 0;
    asked.set(recipient, now + 1);
    return engine.probe({ ...question, recipient: turns[Math.min(now, turns.length - 1)] ?? "" });
  };
  return { ...house, world: { ...house.world, engine: { ...engine, probe } } };
};

const whenPassed = async (house: House, ms: number): Promise<void> => {
  house.later(ms);
  await whenReconciled(house);
  await whenWorked(house);
};

const emailsIn = (job: any): string[] =>
  rowsIn(job).map((row) => row.split(" ").slice(1).join(" "));

describe.each<[string, Sending, { readonly paidBack: boolean }]>([
  ["a batch", asBatch, { paidBack: false }],
  ["a file", asFile, { paidBack: true }],
])("%s", (_kind, whenSent, { paidBack }) => {
  test("greylisted rows come six minutes later, in their place; the others need not wait", async () => {
    const house = moody(await givenChunked({ rows: 3 }), {
      "ann2@x.com": ["greylisted@x.com", "ann2@x.com"],
    });
    await whenSent(house, anns(4));
    await whenWorked(house);
    const waiting = await jobIn(house);
    await whenPassed(house, 6 * MINUTE_MS - 1);
    const early = await jobIn(house);

    await whenPassed(house, 1);

    expect(waiting).toMatchObject({ status: "processing", processed_emails: 3 });
    expect(emailsIn(waiting)).toEqual(["ann1@x.com valid", "ann3@x.com valid", "ann4@x.com valid"]);
    expect(early.processed_emails).toBe(3);
    const done = await jobIn(house);
    expect(done).toMatchObject({
      status: "completed",
      progress: { total: 4, processed: 4, valid: 4 },
    });
    expect(emailsIn(done)).toEqual(anns(4).map((email) => `${email} valid`));
    expect(newsIn(house)).toEqual(["job.completed"]);
    await thenInOrder(house);
  });

  test("whoever greylists to the end is unknown after thirty minutes more, and paid for", async () => {
    const house = await givenChunked();
    await whenSent(house, ["ann1@x.com", "greylisted@x.com", "ann2@x.com"]);
    await whenWorked(house);
    const seen = [];
    for (const ms of [6 * MINUTE_MS, 30 * MINUTE_MS - 1, 1]) {
      await whenPassed(house, ms);
      const { status, progress } = await jobIn(house);
      seen.push(`${status}, ${progress.unknown} unknown`);
    }

    expect(seen).toEqual([
      "processing, 0 unknown",
      "processing, 0 unknown",
      "completed, 1 unknown",
    ]);
    expect((await jobIn(house)).results[1]).toMatchObject({
      email: "greylisted@x.com",
      status: "unknown",
      reason: "greylisted",
    });
    expect(await creditsOf(house)).toMatchObject({ available: 97, held: 0, spent: 3, refunded: 0 });
    await thenInOrder(house);
  });

  test("a greylisted row whose message is lost is asked for again", async () => {
    const house = moody(await givenChunked(), { "ann1@x.com": ["greylisted@x.com", "ann1@x.com"] });
    await whenSent(house, anns(2));
    await whenWorked(house);
    house.later(6 * MINUTE_MS);
    await whenReconciled({ world: fated(house, () => "refused") });
    await whenWorked(house);
    const lost = await jobIn(house);

    await whenPassed(house, 16 * MINUTE_MS);

    expect(lost.status).toBe("processing");
    expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 2 });
  });

  test("a row that breaks again and again is unknown for a reason of ours, and no other row with it", async () => {
    const house = await givenChunked();
    await whenSent(house, ["ann1@x.com", "ann2@x.com", "ann3@x.com", "error@x.com"]);

    await whenQuiet(house);

    const job = await jobIn(house);
    expect(job).toMatchObject({
      status: "completed",
      progress: { total: 4, processed: 4, valid: 3, unknown: 1 },
    });
    expect(job.results.map(({ email, reason }: any) => `${email} ${reason}`)).toEqual([
      "ann1@x.com accepted",
      "ann2@x.com accepted",
      "ann3@x.com accepted",
      "error@x.com internal",
    ]);
    expect(await creditsOf(house)).toMatchObject(
      paidBack
        ? { available: 97, spent: 3, refunded: 1 }
        : { available: 96, spent: 4, refunded: 0 },
    );
    expect(newsIn(house)).toEqual(["job.completed"]);
    await thenInOrder(house);
  });

  test("a job whose input is gone pays back what it cannot do, and does not wait for ever", async () => {
    const house = await givenChunked();
    await whenSent(house, anns(3));
    for (const key of house.blobs.keys()) await house.blobs.remove(key);

    await whenQuiet(house);

    expect(await jobIn(house)).toMatchObject({ status: "failed", processed_emails: 0 });
    expect(await creditsOf(house)).toMatchObject({ available: 100, spent: 0, refunded: 3 });
    await thenInOrder(house);
  });

  test("a job of which every row breaks has failed, and says so once", async () => {
    const house = await givenChunked();
    await whenSent(house, ["error1@x.com", "error3@x.com", "error2@x.com"]);

    await whenQuiet(house);

    expect(await jobIn(house)).toMatchObject({
      status: "failed",
      error: `Every part of the job broke on our side, again and again. ${
        paidBack ? "The charge was refunded." : "The charge stands; it was not refunded."
      }`,
      progress: { total: 3, processed: 3, unknown: 3 },
    });
    expect(await creditsOf(house)).toMatchObject({
      available: paidBack ? 100 : 97,
      held: 0,
      spent: paidBack ? 0 : 3,
    });
    expect(newsIn(house)).toEqual(["job.failed"]);
    await thenInOrder(house);
  });

  test("of a chunk that breaks in a later pass only what waited for it is lost", async () => {
    const house = moody(await givenChunked(), {
      "ann2@x.com": ["greylisted@x.com", "error@x.com"],
    });
    await whenSent(house, anns(2));

    await whenQuiet(house);

    const job = await jobIn(house);
    expect(job).toMatchObject({ status: "completed", progress: { valid: 1, unknown: 1 } });
    expect(job.results[1]).toMatchObject({ email: "ann2@x.com", reason: "internal" });
    expect(await creditsOf(house)).toMatchObject({ spent: paidBack ? 1 : 2 });
    await thenInOrder(house);
  });

  test("what breaks a few times only is found out in the end", async () => {
    const house = moody(await givenChunked(), {
      "ann1@x.com": ["error@x.com", "error@x.com", "ann1@x.com"],
    });
    await whenSent(house, anns(3));

    await whenQuiet(house);

    expect(await jobIn(house)).toMatchObject({ status: "completed", progress: { valid: 3 } });
    expect(await creditsOf(house)).toMatchObject({ spent: 3 });
  });

  test("messages that come many times, and at once, change nothing the second time", async () => {
    const house = await givenChunked();
    const { queue } = house.world;
    const twice: AppWorld["queue"]["sendMany"] = (name, messages) =>
      queue
        .sendMany(name, [...messages, ...messages, ...messages])
        .then((sent) => sent.slice(0, messages.length));
    await whenSent(
      { ...house, world: { ...house.world, queue: { ...queue, sendMany: twice } } },
      anns(5),
    );

    await Promise.all([whenWorked(house), whenWorked(house), whenWorked(house)]);

    expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
    expect(rowsIn(await jobIn(house))).toHaveLength(5);
    expect(newsIn(house)).toEqual(["job.completed"]);
    expect(house.queue.pending()).toBe(0);
    await thenInOrder(house);
  });

  // The last chunk changes three things: its page is kept, it counts, and the job is done.
  test.each([0, 1, 2, 3])(
    "a worker that is gone after %i changes leaves a job that is done once",
    async (changes) => {
      const house = await givenChunked();
      await whenSent(house, anns(2));
      void whenWorked({ ...house, world: goneAfter(house, changes).world });
      for (let turns = 0; turns < 20; turns++) await turn();

      await whenQuiet(house);

      const job = await jobIn(house);
      expect(job).toMatchObject({ status: "completed", progress: { processed: 2, valid: 2 } });
      expect(rowsIn(job)).toHaveLength(2);
      expect(newsIn(house)).toEqual(["job.completed"]);
      await thenInOrder(house);
    },
  );
});

test("a file's chunk that was not surely queued, was settled, and then broke is paid back, and the job ends", async () => {
  const house = await givenChunked();
  const world = fated(house, (chunk) => (chunk === 1 ? "unknown" : "sent"));
  await whenProcessed({ ...house, world }, ["ann1@x.com", "ann2@x.com", "error@x.com"]);
  await whenPassed(house, MINUTE_MS);
  const settled = movesOf(house);

  await whenQuiet(house);

  expect(settled).toEqual(["settle 1", "hold 3", "settle 2"]);
  expect(await jobIn(house)).toMatchObject({
    status: "completed",
    progress: { total: 3, processed: 3, valid: 2, unknown: 1 },
  });
  expect(movesOf(house)).toEqual([...settled, "refund 1"]);
  await thenInOrder(house);
});

test("a file's chunk that broke before anybody settled the file is paid back once that is done", async () => {
  const house = await givenChunked();
  const gone = goneAfter(house, 5);
  void whenProcessed({ ...house, world: gone.world }, ["ann1@x.com", "ann2@x.com", "error@x.com"]);
  for (let turns = 0; turns < 20; turns++) await turn();
  for (let hands = 0; hands < 7; hands++) {
    house.later(16 * MINUTE_MS);
    await whenWorked(house);
  }
  const before = movesOf(house);

  await whenQuiet(house);

  expect(before).toEqual(["hold 3"]);
  expect(await jobIn(house)).toMatchObject({ status: "completed", progress: { unknown: 1 } });
  expect(movesOf(house)).toEqual(["hold 3", "settle 3", "refund 1"]);
  await thenInOrder(house);
});

test("a test key's chunk that breaks again and again moves no credit", async () => {
  const house = await givenChunked();
  await whenBatched(house.world, house.testKey, {
    emails: ["ann@x.com", "bo@x.com", "error@x.com"],
  });
  await whenProcessed({ ...house, liveKey: house.testKey }, [
    "ann@x.com",
    "bo@x.com",
    "error@x.com",
  ]);

  await whenQuiet(house);

  for (const id of ["job_1", "job_2"])
    expect(await jobIn(house, id, house.testKey)).toMatchObject({
      status: "completed",
      progress: { total: 3, processed: 3, valid: 2, unknown: 1 },
    });
  expect(movesOf(house)).toEqual([]);
});

test("the callback of a job that failed is in the event of its failure", async () => {
  const house = await givenChunked();
  const callback = { webhook_url: "https://x.example/done", webhook_secret: "s".repeat(16) };
  await whenBatched(house.world, house.liveKey, { emails: ["error@x.com"], ...callback });

  await whenQuiet(house);

  const events = house.table
    .items()
    .filter(({ sk }) => sk === "EVENT")
    .map(readEvent);
  expect(events).toMatchObject([
    {
      type: "job.failed",
      data: { job_id: "job_1", status: "failed", error: expect.any(String) },
      callback: { url: callback.webhook_url },
    },
  ]);
  const { secret } = events[0]?.callback ?? {};
  expect(unseal(house.world, house.account, secret ?? "")).toBe(callback.webhook_secret);
});

test("results of a chunk are kept as long as the plan says, and the job tells its counts for longer", async () => {
  const house = await givenChunked({ plan: "free" });
  await whenBatched(house.world, house.liveKey, { emails: anns(3) });
  await whenWorked(house);
  house.later(7 * 24 * 60 * MINUTE_MS - 1_000);
  const kept = await jobIn(house);

  house.later(1_000);

  expect(rowsIn(kept)).toHaveLength(3);
  const gone = await jobIn(house);
  expect(gone).toMatchObject({ status: "completed", processed_emails: 3 });
  expect(gone).not.toHaveProperty("results");
  await thenInOrder(house);
});
