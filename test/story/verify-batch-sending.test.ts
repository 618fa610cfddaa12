import { audit } from "@mailproof/core/money/audit";
import { expect, test } from "vitest";
import { down, fated, goneAfter, turn } from "../breaking.ts";
import { anns, givenChunked, jobIn, rowsIn, whenBatched } from "../jobs.ts";
import { creditsOf, movesOf, newsIn, thenInOrder } from "../ledger.ts";
import { whenQuiet, whenReconciled, whenWorked } from "../working.ts";

// From the debit on a batch is a job, whatever becomes of its messages and of whoever accepted it.

const MINUTE_MS = 60_000;

test.each(["refused", "unknown", "unheard"] as const)(
  "a batch of which every message is %s is accepted all the same, and sent again within minutes",
  async (fate) => {
    const house = await givenChunked();
    const told = await whenBatched(
      fated(house, () => fate),
      house.liveKey,
      { emails: anns(5) },
    );

    house.later(MINUTE_MS);
    await whenReconciled(house);
    await whenWorked(house);

    expect(told).toMatchObject({ statusCode: 202, data: { status: "processing" } });
    expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
    expect(movesOf(house)).toEqual(["charge 5"]);
    expect(newsIn(house)).toEqual(["job.completed"]);
  },
);

test("a queue that breaks after the debit does not undo what was accepted", async () => {
  const house = await givenChunked();
  const world = { ...house.world, queue: { ...house.queue, sendMany: down } };

  const told = await whenBatched(world, house.liveKey, { emails: anns(5) }, "k");
  await whenQuiet(house);

  expect(told).toMatchObject({ statusCode: 202, data: { credits_used: 5 } });
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
});

test("a job that is stuck is sent again each hour, what is done is not done twice, and it ends", async () => {
  const house = await givenChunked();
  const { world, liveKey, later, queue } = house;
  await whenBatched(
    fated(house, (chunk) => (chunk === 1 ? "refused" : "sent")),
    liveKey,
    {
      emails: anns(5),
    },
  );
  await whenWorked(house);
  const lossy = { ...house, world: fated(house, () => "refused") };
  for (const minutes of [1, 60, 60]) {
    later(minutes * MINUTE_MS);
    await whenReconciled(lossy);
  }
  const stuck = await jobIn(house);

  later(60 * MINUTE_MS);
  await whenReconciled(house);
  const sentAgain = queue.pending();
  await whenWorked(house);

  expect([stuck.status, stuck.processed_emails]).toEqual(["processing", 3]);
  expect(sentAgain).toBe(1);
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(rowsIn(await jobIn(house))).toHaveLength(5);
  expect(await audit(house.table, world.now())).toMatchObject({ ok: true });
});

// An undisturbed batch changes four things: the list is kept, paid for, sent, and put off.
const EFFECTS = 4;

test("an undisturbed batch changes as many things as the crashes below are tried after", async () => {
  const house = await givenChunked();
  const { world, effects } = goneAfter(house, Number.POSITIVE_INFINITY);

  await whenBatched(world, house.liveKey, { emails: anns(5) }, "k");

  expect(effects()).toBe(EFFECTS);
});

test.each(Array.from({ length: EFFECTS }, (_row, effects) => effects))(
  "a process that is gone after %i changes leaves nothing or a job that ends, and its key tells which",
  async (effects) => {
    const house = await givenChunked();
    const { world, liveKey } = house;
    const body = { emails: anns(5) };
    void whenBatched(goneAfter(house, effects).world, liveKey, body, "k");
    for (let turns = 0; turns < 10; turns++) await turn();
    const isPaid = effects > 1;
    expect(await creditsOf(house)).toMatchObject({ available: isPaid ? 95 : 100 });

    await whenQuiet(house);
    const repeat = await whenBatched(world, liveKey, body, "k");
    await whenQuiet(house);

    expect(repeat).toMatchObject({ statusCode: 202, data: { credits_used: isPaid ? 0 : 5 } });
    expect(await jobIn(house, repeat.data.job_id)).toMatchObject({
      status: "completed",
      processed_emails: 5,
    });
    expect(movesOf(house)).toEqual(["charge 5"]);
    expect(newsIn(house)).toEqual(["job.completed"]);
    await thenInOrder(house);
  },
);
