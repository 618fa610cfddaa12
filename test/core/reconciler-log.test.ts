import { dueAt } from "@mailproof/core/due";
import { reconcile } from "@mailproof/core/reconciler";
import { expect, test } from "vitest";
import { given, START } from "../given.ts";
import { givenChunked, whenBatched } from "../jobs.ts";
import { send } from "../send.ts";
import { givenHook, HOUR_MS, hookIn, whenAnnounced, whenDue, whenPassed } from "../webhooks.ts";

// A line "repaired" tells the operator that something broke. Work that comes at its planned moment writes none.

type House = Awaited<ReturnType<typeof given>>;

const repairsIn = ({ logged }: Pick<House, "logged">) =>
  logged.filter(({ event }) => event === "repaired").map(({ fields }) => fields);

test("a webhook whose server is down for hours is tried again without a line", async () => {
  const house = await givenHook();
  house.servers.answer(500);
  await whenAnnounced(house);
  house.later(30_000);
  await whenDue(house);
  house.logged.length = 0;

  await whenPassed(house, 12 * HOUR_MS);

  expect(house.servers.heard.length).toBeGreaterThan(5);
  expect(await hookIn(house)).toMatchObject({ status: "active" });
  expect(repairsIn(house)).toEqual([]);
});

test("a monitor that runs each day writes no line; one whose message was lost writes one", async () => {
  const house = await given({ balance: 100 });
  const body = { domain: "example.com" };
  const { statusCode } = await send(house.world, "POST /v1/deliverability/monitors", {
    key: house.liveKey,
    body,
  });
  await whenPassed(house, 25 * HOUR_MS);
  const ordinary = repairsIn(house);

  const world = { ...house.world, queue: { ...house.world.queue, sendMany: async () => ["sent"] } };
  house.later(24 * HOUR_MS);
  await reconcile.run(world as never);
  const planned = repairsIn(house);
  house.later(6 * 60_000);
  await reconcile.run(house.world);

  expect([statusCode, ordinary, planned]).toEqual([201, [], []]);
  expect(repairsIn(house)).toMatchObject([{ kind: "monitor" }]);
});

test("a look at a job that goes on writes no line", async () => {
  const house = await givenChunked({ rows: 4 });
  await whenBatched(house.world, house.liveKey, { emails: ["a@x.com", "b@x.com", "c@x.com"] });
  await house.table.write({
    update: { pk: "JOB#job_1", sk: "JOB" },
    set: { processed: 1 },
  });
  house.later(HOUR_MS);

  await reconcile.run(house.world);

  expect(repairsIn(house)).toEqual([]);
});

test("rows that wait for their planned moment write no line; the same rows after a lost message write one", async () => {
  const house = await given();
  const waiting = {
    pk: "CHUNKS#job_1",
    sk: "00000",
    job: "job_1",
    chunk: 0,
    outcome: "done",
    rows: 1,
    waiting: 1,
    from: 0,
    to: 1,
    pass0: "txn_0",
    retryAt: START.toISOString(),
    ...dueAt("chunk", "job_1", START, "txn_0"),
  };
  await house.table.write({ create: waiting });

  await reconcile.run(house.world);
  const planned = repairsIn(house);
  house.later(HOUR_MS);
  await reconcile.run(house.world);

  expect(planned).toEqual([]);
  expect(repairsIn(house)).toMatchObject([{ kind: "chunk", done: "sent_again" }]);
});
