import type { Blobs } from "@mailproof/core/blobs";
import { describe, expect, test } from "vitest";
import { type Damage, damaged } from "../breaking.ts";
import {
  anns,
  csvOf,
  givenChunked,
  givenUpload,
  type House,
  jobIn,
  processOf,
  rowsIn,
  whenBatched,
  whenFiled,
  whenProcessed,
} from "../jobs.ts";
import { creditsOf, newsIn, thenInOrder } from "../ledger.ts";
import { send } from "../send.ts";
import { whenQuiet, whenWorked } from "../working.ts";

// What callers see when a stored list can no longer be read, or no longer as it was stored.

const withBlobs = (house: House, blobs: Blobs): House => ({
  ...house,
  world: { ...house.world, blobs },
});
const whenDamaged = (house: House, damage: Damage): House =>
  withBlobs(house, damaged(house.blobs, damage));

const ofInputs =
  (at: number): Damage =>
  (key) =>
    key.startsWith("inputs/") ? at : undefined;

type Sending = (house: House, emails: readonly string[]) => Promise<unknown>;

const asBatch: Sending = ({ world, liveKey }, emails) => whenBatched(world, liveKey, { emails });
const asFile: Sending = (house, emails) => whenProcessed(house, emails);

describe.each<[string, Sending]>([
  ["a batch", asBatch],
  ["a file", asFile],
])("%s", (_kind, whenSent) => {
  test("whose list cannot be read has failed when its workers were there, and is refunded", async () => {
    const house = whenDamaged(await givenChunked(), (key) => ofInputs(0)(key));
    const [balance] = [100];
    await whenSent(house, anns(1));

    await whenWorked(house);

    const job = await jobIn(house);
    expect(job).toMatchObject({
      status: "failed",
      error: "None of it could be done. The charge was refunded.",
      processed_emails: 0,
      credits_refunded: 1,
    });
    expect(await creditsOf(house)).toMatchObject({ available: balance, held: 0, spent: 0 });
    expect(newsIn(house)).toEqual(["job.failed"]);
    expect(await house.queue.countDead()).toBe(0);
    await thenInOrder(house);
  });

  test("of whose list a part is damaged has the results of the others, and says what was refunded", async () => {
    const house = await givenChunked({ rows: 2 });
    await whenSent(house, anns(5));
    const partly = whenDamaged(house, ofInputs(60));

    await whenWorked(partly);

    const job = await jobIn(partly);
    expect(job).toMatchObject({
      status: "completed",
      progress: { total: 5, processed: 3, valid: 3 },
      credits_refunded: 2,
    });
    expect(rowsIn(job).map((row) => row.split(" ")[1])).toEqual([
      "ann1@x.com",
      "ann2@x.com",
      "ann5@x.com",
    ]);
    expect(await creditsOf(house)).toMatchObject({ available: 97, held: 0, spent: 3, refunded: 2 });
    expect(await house.queue.countDead()).toBe(0);
    await thenInOrder(house);
  });

  test("whose list is damaged while rows wait is refunded for those that wait", async () => {
    const house = await givenChunked({ rows: 4 });
    await whenSent(house, ["ann1@x.com", "greylisted@x.com"]);
    await whenWorked(house);
    const later = whenDamaged(house, ofInputs(0));

    await whenQuiet(later);

    const job = await jobIn(later);
    expect(job).toMatchObject({ status: "completed", processed_emails: 1, credits_refunded: 1 });
    expect(job.deferred).toBeUndefined();
    expect(await creditsOf(house)).toMatchObject({ available: 99, held: 0, spent: 1 });
    await thenInOrder(house);
  });
});

const download = ({ world, liveKey: key }: House, id: string, query = {}) =>
  send(world, `GET /v1/jobs/${id}/download`, { key, query });

test("results whose list was damaged later are exported without the list's own columns, and all rows are not", async () => {
  const house = await givenChunked();
  await whenProcessed(house, anns(3));
  await whenQuiet(house);
  const later = whenDamaged(house, ofInputs(60));

  const verified = await download(later, "job_1");
  const all = await download(later, "job_1", { rows: "all" });

  expect(verified.statusCode).toBe(200);
  expect(verified.text.match(/ann\d@x\.com/g)).toEqual(anns(3));
  expect(all).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
});

test("rows that were not verified and can no longer be read make an export of all rows 404, not a half of it", async () => {
  const house = await givenChunked();
  await whenProcessed(house, [...anns(3), "ann1@x.com", "no address"]);
  await whenQuiet(house);
  const whole = await download(house, "job_1", { rows: "all" });
  const later = whenDamaged(house, (key) => (key.endsWith(".excluded") ? 5 : undefined));

  const all = await download(later, "job_1", { rows: "all" });
  const verified = await download(later, "job_1");

  expect([whole.statusCode, verified.statusCode]).toEqual([200, 200]);
  expect(all).toMatchObject({ statusCode: 404, error: { code: "NOT_FOUND" } });
});

test("an upload that was damaged is refused before it costs anything, and can be uploaded again", async () => {
  const house = await givenChunked();
  const { world, liveKey } = house;
  const fileKey = await givenUpload(house, liveKey, csvOf(anns(3)));
  const broken = whenDamaged(house, (key) => (key.startsWith("uploads/") ? 9 : undefined));

  const refused = await whenFiled(broken.world, liveKey, processOf(fileKey), "k");
  const again = await whenFiled(world, liveKey, processOf(fileKey), "k");

  expect(refused).toMatchObject({
    statusCode: 404,
    error: {
      code: "NOT_FOUND",
      money: "nothing_charged",
      message: expect.stringContaining("damaged on our side; upload it again"),
    },
  });
  expect(again.statusCode).toBe(202);
  await thenInOrder(house);
});
