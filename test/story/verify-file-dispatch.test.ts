import { take } from "@mailproof/core/due";
import { expect, test } from "vitest";
import {
  down,
  type Fate,
  fated,
  goneAfter,
  overTable,
  replyless,
  stopping,
  turn,
  unread,
} from "../breaking.ts";
import {
  anns,
  csvOf,
  givenChunked,
  givenUpload,
  jobIn,
  processOf,
  rowsIn,
  whenFiled,
  whenFormSent,
} from "../jobs.ts";
import { creditsOf, movesOf, newsIn, thenInOrder } from "../ledger.ts";
import { whenQuiet, whenReconciled, whenWorked } from "../working.ts";

// What a file costs is held until it is known of every chunk whether it is queued: then it is settled or given back.

const MINUTE_MS = 60_000;

/** Five addresses in three chunks, of which the last has one. */
const givenFile = async (emails = anns(5), rows = 2) => {
  const house = await givenChunked({ rows });
  const fileKey = await givenUpload(house, house.liveKey, csvOf(emails));
  const process = (world = house.world, idempotencyKey: string | undefined = "k") =>
    whenFiled(world, house.liveKey, processOf(fileKey), idempotencyKey);
  return { ...house, process };
};

/** Whoever accepted it is gone after so many changes. */
const givenAbandoned = async (effects: number) => {
  const house = await givenFile();
  void house.process(goneAfter(house, effects).world);
  for (let turns = 0; turns < 20; turns++) await turn();
  return house;
};

test("a repeat is the same job, says so, and costs nothing, also when the job is done", async () => {
  const house = await givenFile();
  const first = await house.process();
  const early = await house.process();
  await whenWorked(house);
  const late = await house.process();

  const replay = {
    ...first.data,
    credits_used: 0,
    idempotent_replay: true,
    message: "This is the earlier submission with this Idempotency-Key. Nothing more was charged.",
  };
  expect([early.statusCode, early.data]).toEqual([202, replay]);
  expect([late.statusCode, late.data]).toEqual([202, replay]);
  expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
});

test("a form sent twice is known by what is in its file: the same is a replay, another is 409", async () => {
  const house = await givenChunked();
  const { world, liveKey } = house;
  const partOf = (emails: readonly string[], fileName = "list.csv") => ({
    name: "file",
    fileName,
    content: csvOf(emails),
  });
  const first = await whenFormSent(world, liveKey, [partOf(anns(3))], "k");

  const same = await whenFormSent(world, liveKey, [partOf(anns(3), "again.csv")], "k");
  const others = [
    await whenFormSent(world, liveKey, [partOf(anns(4))], "k"),
    await whenFormSent(
      world,
      liveKey,
      [partOf(anns(3)), { name: "has_header", content: "true" }],
      "k",
    ),
  ];

  expect(same.data).toMatchObject({ job_id: first.data.job_id, idempotent_replay: true });
  expect(others.map(({ statusCode }) => statusCode)).toEqual([409, 409]);
  expect(movesOf(house)).toEqual(["hold 3", "settle 3"]);
});

test("while the chunks are being queued a repeat is 202 dispatch_in_progress and says when to come again", async () => {
  const house = await givenAbandoned(2);
  house.later(1_500);

  const told = await house.process();

  expect(told).toMatchObject({ statusCode: 202, headers: { "retry-after": "1" } });
  expect(told.data).toEqual({
    job_id: "job_1",
    status: "processing",
    total_submitted: 5,
    duplicates_removed: 0,
    invalid_emails_skipped: 0,
    unique_emails: 5,
    file: expect.objectContaining({ email_column: "email", delimiter: "none" }),
    credits_used: 0,
    credits_remaining: 95,
    dispatch_in_progress: true,
    message: expect.stringMatching(/still queueing the addresses\. Nothing more was charged/),
  });
  expect(await jobIn(house)).toMatchObject({ status: "processing" });
  expect(movesOf(house)).toEqual(["hold 5"]);
});

test("a repeat is told of the work, and not of the five minutes that the reconciler has for it", async () => {
  const house = await givenAbandoned(2);
  house.later(45_000);
  const item = await house.table.get({ pk: "OPERATION#job_1", sk: "OPERATION" });
  await take(house.world, item ?? { pk: "", sk: "" }, 5 * 60_000);

  expect((await house.process()).headers).toMatchObject({ "retry-after": "1" });
});

test("once they are queued and only the money is not settled a repeat is 202 dispatch_settlement_pending", async () => {
  const house = await givenAbandoned(4);

  const told = await house.process();

  expect(told).toMatchObject({
    statusCode: 202,
    headers: { "retry-after": "1" },
    data: { job_id: "job_1", credits_used: 0, dispatch_settlement_pending: true },
  });
  expect(told.data).not.toHaveProperty("dispatch_in_progress");
  expect(movesOf(house)).toEqual(["hold 5"]);
});

test.each([2, 3, 4])(
  "whoever comes with the same key after Retry-After finishes what %i changes left, for what was paid",
  async (effects) => {
    const house = await givenAbandoned(effects);
    let taken = await house.process();
    let repeats = 0;
    for (; taken.headers["retry-after"] !== undefined; taken = await house.process()) {
      house.later(Number(taken.headers["retry-after"]) * 1_000);
      repeats++;
    }
    await whenWorked(house);
    expect(repeats).toBeLessThan(12);

    expect(taken).toMatchObject({ statusCode: 202, data: { job_id: "job_1", unique_emails: 5 } });
    expect(taken.data).not.toHaveProperty("dispatch_in_progress");
    expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
    expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
    await thenInOrder(house);
  },
);

test("an owner that wakes up after it was taken over changes nothing, and claims nothing", async () => {
  const house = await givenFile();
  const stopped = stopping(house, 1);
  const first = house.process(stopped.world);
  for (let turns = 0; turns < 20; turns++) await turn();
  house.later(45_000);
  await house.process();

  stopped.goOn();
  const late = await first;

  expect(late).toMatchObject({ statusCode: 202, data: { dispatch_settlement_pending: true } });
  expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
  await thenInOrder(house);
});

// An undisturbed file changes five things: its input is kept, it is paid for, sent, noted as sent, and settled.
const EFFECTS = 5;

test("an undisturbed file changes as many things as the crashes below are tried after", async () => {
  const house = await givenFile();
  const { world, effects } = goneAfter(house, Number.POSITIVE_INFINITY);

  await house.process(world);

  expect(effects()).toBe(EFFECTS);
});

test.each(Array.from({ length: EFFECTS }, (_row, effects) => effects))(
  "a process that is gone after %i changes leaves nothing or a job that ends without anybody's asking",
  async (effects) => {
    const house = await givenAbandoned(effects);
    const isPaid = effects > 1;

    await whenQuiet(house);
    const repeat = await house.process();
    await whenQuiet(house);

    expect(repeat.data).toMatchObject({
      credits_used: isPaid ? 0 : 5,
      credits_remaining: 95,
      ...(isPaid && { idempotent_replay: true }),
    });
    expect(await jobIn(house, repeat.data.job_id)).toMatchObject({
      status: "completed",
      progress: { total: 5, processed: 5, valid: 5 },
    });
    expect(rowsIn(await jobIn(house, repeat.data.job_id))).toHaveLength(5);
    expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
    expect(newsIn(house)).toEqual(["job.completed"]);
    await thenInOrder(house);
  },
);

test("what was queued before a crash and is verified before anybody looks is not verified twice", async () => {
  const house = await givenAbandoned(3);
  await whenWorked(house);
  const before = await jobIn(house);

  await whenQuiet(house);

  expect(before).toMatchObject({ status: "processing", processed_emails: 5 });
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
  expect(newsIn(house)).toEqual(["job.completed"]);
});

test("what was verified is not given back, though nothing can be queued any more", async () => {
  const house = await givenAbandoned(3);
  await whenWorked(house);
  house.later(45_000);

  const told = await house.process(fated(house, () => "refused"));
  expect(movesOf(house)).toEqual(["hold 5"]);
  await whenQuiet(house);

  // A first try may have queued what this one could not.
  expect(told).toMatchObject({
    statusCode: 202,
    data: { status: "enqueue_unknown", enqueue_unknown: 5, credits_held: 5 },
  });
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(new Set(movesOf(house))).toEqual(new Set(["hold 5", "settle 2", "settle 1"]));
  await thenInOrder(house);
});

/** What becomes of the chunks 0, 1 and 2, when they are first sent. */
const fatesOf =
  (...fates: readonly Fate[]) =>
  (chunk: number): Fate =>
    fates[chunk] ?? "sent";

test("a repeat is told how it stands by now, not how it stood", async () => {
  const house = await givenFile();
  await house.process(fated(house, fatesOf("sent", "unknown", "sent")));
  await whenQuiet(house);

  const { data } = await house.process();

  expect(data).toMatchObject({ idempotent_replay: true, status: "processing", credits_used: 0 });
  expect(data).not.toHaveProperty("credits_held");
  expect(data).not.toHaveProperty("enqueue_unknown");
});

test("a file of which everything was given back in the end leaves its key free", async () => {
  const house = await givenFile();
  const lost = fated(house, () => "unknown");
  await house.process(lost);
  for (let hour = 0; hour < 3; hour++) {
    house.later(3_600_000);
    await whenReconciled({ world: lost });
  }
  const given = await jobIn(house);

  const again = await house.process();

  expect(given).toMatchObject({ status: "failed", processed_emails: 0 });
  expect(again.data).not.toHaveProperty("idempotent_replay");
  expect(again.data.job_id).not.toBe(given.job_id);
  await thenInOrder(house);
});

test("what is definitively refused is refunded, and the rest is the job", async () => {
  const house = await givenFile();

  const told = await house.process(fated(house, fatesOf("sent", "refused", "sent")));
  const repeat = await house.process();
  await whenWorked(house);

  expect(told.data).toMatchObject({
    status: "processing",
    unique_emails: 5,
    credits_used: 5,
    credits_refunded: 2,
    credits_remaining: 97,
    message:
      "3 addresses are being verified. 2 addresses could not be queued. Their charge was refunded.",
  });
  expect(told.data).not.toHaveProperty("credits_held");
  expect(repeat.data).toMatchObject({ credits_used: 0, credits_refunded: 2 });
  expect(movesOf(house).toSorted()).toEqual(["hold 5", "release 2", "settle 3"]);
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 3 });
  expect(rowsIn(await jobIn(house)).map((row) => row.slice(0, 1))).toEqual(["2", "3", "6"]);
  await thenInOrder(house);
});

test("a refused chunk whose message comes all the same is not verified: it is paid back already", async () => {
  const house = await givenFile();
  await house.process(fated(house, fatesOf("sent", "refused", "sent")));
  await house.queue.sendMany("chunks", [
    { body: { job: "job_1", chunk: 1, pass: 0, from: 0, to: 9 } },
  ]);

  await whenWorked(house);

  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 3 });
  await thenInOrder(house);
});

test("the last chunk is smaller, and so is what is refunded for it", async () => {
  const house = await givenFile();

  const told = await house.process(fated(house, fatesOf("sent", "sent", "refused")));

  expect(told.data).toMatchObject({ credits_refunded: 1, credits_remaining: 96 });
});

test("what may be queued or not is enqueue_unknown, and its credits are held", async () => {
  const house = await givenFile();

  const told = await house.process(fated(house, fatesOf("refused", "unknown", "sent")));

  expect(told).toMatchObject({
    statusCode: 202,
    data: {
      status: "enqueue_unknown",
      credits_used: 5,
      credits_refunded: 2,
      credits_held: 2,
      enqueue_unknown: 2,
      credits_remaining: 97,
      message:
        "3 addresses are being verified. 2 addresses could not be queued. Their charge was refunded. 2 addresses may or may not be queued. Their credits are held until it is known.",
    },
  });
  expect(await jobIn(house)).toMatchObject({ status: "enqueue_unknown" });
  expect(await creditsOf(house)).toMatchObject({ available: 97, held: 2, spent: 1, refunded: 2 });
  await thenInOrder(house);
});

test.each([
  ["did not arrive", "unknown"],
  ["arrived", "unheard"],
] as const)(
  "a chunk that %s is settled once it is known, and verified once",
  async (_case, fate) => {
    const house = await givenFile();
    await house.process(fated(house, fatesOf("sent", fate, "sent")));
    await whenWorked(house);
    const meanwhile = await jobIn(house);

    house.later(MINUTE_MS);
    await whenReconciled(house);
    await whenWorked(house);

    expect(meanwhile.status).toBe("enqueue_unknown");
    expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
    expect(movesOf(house)).toEqual(["settle 2", "hold 5", "settle 3"]);
    expect(newsIn(house)).toEqual(["job.completed"]);
    await thenInOrder(house);
  },
);

test("what cannot be queued for an hour is given back, minute by minute not before, and the job ends", async () => {
  const house = await givenFile();
  const world = fated(house, fatesOf("sent", "unknown", "unknown"));
  await house.process(world);
  await whenWorked(house);
  const lossy = { ...house, world };
  for (let minute = 0; minute < 60; minute++) {
    house.later(MINUTE_MS);
    await whenReconciled(lossy);
  }
  const before = await creditsOf(house);

  house.later(MINUTE_MS);
  await whenReconciled(lossy);

  expect(before).toMatchObject({ available: 95, held: 3, spent: 2 });
  expect(movesOf(house)).toEqual(["release 2", "release 1", "hold 5", "settle 2"]);
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 2 });
  expect(newsIn(house)).toEqual(["job.completed"]);
  await thenInOrder(house);
});

test("a job of which everything was given back has failed: not one address was verified", async () => {
  const house = await givenFile();
  const world = fated(house, () => "unknown");
  const told = await house.process(world);

  await whenQuiet({ ...house, world });

  expect(told.data).toMatchObject({ credits_held: 5, enqueue_unknown: 5 });
  expect(await jobIn(house)).toMatchObject({ status: "failed", error: expect.any(String) });
  expect(await creditsOf(house)).toMatchObject({ available: 100, held: 0, spent: 0, refunded: 5 });
  expect(newsIn(house)).toEqual(["job.failed"]);
  await thenInOrder(house);
});

test("a chunk that a worker did while it was to be given back is paid for", async () => {
  const house = await givenFile();
  await house.process(fated(house, fatesOf("sent", "unheard", "sent")));
  house.later(61 * MINUTE_MS);
  const lossy = fated(house, () => "unknown");
  const { table } = house;
  let isDone = false;
  // Between looking for what became of the chunk and giving it back, its worker is through.
  const transact: typeof table.transact = async (writes) => {
    if (!isDone) {
      isDone = true;
      await whenWorked(house);
    }
    return table.transact(writes);
  };

  await whenReconciled({ world: overTable({ ...house, world: lossy }, { transact }) });
  await whenQuiet(house);

  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(movesOf(house)).toEqual(["settle 2", "hold 5", "settle 3"]);
  await thenInOrder(house);
});

test("what is refused to the last address is refunded whole, its job has failed, and the key buys again", async () => {
  const house = await givenFile();

  const failed = await house.process(fated(house, () => "refused"));
  const bought = await house.process();
  await whenWorked(house);

  expect(failed).toMatchObject({ statusCode: 500, error: { code: "INTERNAL" } });
  expect(failed.error.message).toMatch(/The charge was refunded\.$/);
  expect(await jobIn(house)).toMatchObject({
    status: "failed",
    error: "None of the addresses could be queued. The charge was refunded.",
    processed_emails: 0,
  });
  expect(bought.data).toMatchObject({ job_id: "job_2", credits_used: 5, credits_remaining: 95 });
  expect(bought.data).not.toHaveProperty("idempotent_replay");
  expect(await jobIn(house, "job_2")).toMatchObject({ status: "completed" });
  expect(movesOf(house)).toEqual(["hold 5", "release 5", "hold 5", "settle 5"]);
  expect(newsIn(house)).toEqual(["job.failed", "job.completed"]);
  await thenInOrder(house);
});

test("of many refused chunks as many as fit one transaction are refunded at once, the others within minutes or an hour", async () => {
  const house = await givenFile(anns(90), 1);
  const fateOf = (chunk: number): Fate => (chunk === 0 ? "sent" : "refused");
  const world = fated(house, fateOf);

  const told = await house.process(world);
  await whenQuiet({ ...house, world });

  expect(told.data).toMatchObject({
    status: "enqueue_unknown",
    credits_refunded: 80,
    credits_held: 9,
    enqueue_unknown: 9,
  });
  expect(await creditsOf(house)).toMatchObject({ held: 0, spent: 1, refunded: 89 });
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 1 });
  await thenInOrder(house);
});

test("a refund to which no reply comes is told as unknown: the same key asks", async () => {
  const house = await givenFile();
  const refusing = fated(house, () => "refused");

  const told = await house.process(replyless(house, refusing, 2, true));
  const again = await house.process();

  expect(told.statusCode).toBe(500);
  expect(told.error.message).toMatch(/Retry with the same Idempotency-Key; it will not be/);
  expect(again.data).toMatchObject({ job_id: "job_2", credits_used: 5 });
  expect(movesOf(house)).toEqual(["hold 5", "release 5", "hold 5", "settle 5"]);
});

test.each([
  ["written", true],
  ["not written", false],
])(
  "a settlement to which no reply comes, and that was %s, is told as pending: the request itself was charged",
  async (_case, written) => {
    const house = await givenFile();

    const told = await house.process(replyless(house, house.world, 2, written));
    const repeat = await house.process();
    await whenQuiet(house);

    expect(told).toMatchObject({
      statusCode: 202,
      data: { credits_used: 5, dispatch_settlement_pending: true },
    });
    expect(repeat.data).toMatchObject({ job_id: "job_1", credits_used: 0 });
    expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
    expect(await jobIn(house)).toMatchObject({ status: "completed" });
    await thenInOrder(house);
  },
);

test("without an Idempotency-Key nobody is asked to send it again: that would charge again", async () => {
  const house = await givenFile();

  const told = await whenFiled(
    replyless(house, house.world, 2, false),
    house.liveKey,
    processOf(`uploads/live/${house.account}/upl_1.bGlzdC5jc3Y.csv`),
  );

  expect(told).toMatchObject({ statusCode: 202, data: { dispatch_settlement_pending: true } });
  expect(told.headers).not.toHaveProperty("retry-after");
  expect(told.data.message).toMatch(
    /Follow the job\. Nothing more was charged\. Sending .* charges it again\.$/,
  );
});

test.each([
  ["under an Idempotency-Key asks for the same key", "k", /Retry with the same Idempotency-Key/],
  ["without one promises nothing", undefined, /Do not assume a refund; check GET \/v1\/jobs/],
])("what breaks after the debit is 500, and %s; the job goes on", async (_case, keyed, words) => {
  const house = await givenFile();
  const fileKey = `uploads/live/${house.account}/upl_1.bGlzdC5jc3Y.csv`;
  const breaking = { ...house.world, queue: { ...house.queue, sendMany: down } };

  const told = await whenFiled(breaking, house.liveKey, processOf(fileKey), keyed);
  await whenQuiet(house);

  expect(told).toMatchObject({ statusCode: 500, error: { code: "INTERNAL" } });
  expect(told.error.message).toMatch(words);
  expect(await jobIn(house)).toMatchObject({ status: "completed", processed_emails: 5 });
  expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
});

test("an abandoned file that cannot be looked up is 503, and the same key asks again", async () => {
  const house = await givenAbandoned(2);

  const told = await house.process(unread(house, "OPERATION#"));

  expect(told).toMatchObject({ statusCode: 503, error: { code: "UNAVAILABLE" } });
  expect(told.error.message).toMatch(/Retry with the same Idempotency-Key; it will not be/);
});

test("twenty racing requests with one key are one job, paid for once", async () => {
  const house = await givenFile();

  const answers = await Promise.all(Array.from({ length: 20 }, () => house.process()));
  await whenQuiet(house);

  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(202));
  expect(new Set(answers.map(({ data }) => data.job_id)).size).toBe(1);
  expect(answers.filter(({ data }) => data.credits_used === 5)).toHaveLength(1);
  expect(movesOf(house)).toEqual(["hold 5", "settle 5"]);
  await thenInOrder(house);
});

test.each<[string, Fate]>([
  ["refused", "refused"],
  ["unknown", "unknown"],
])("a test key's file of which a chunk is %s moves no credit", async (_case, fate) => {
  const house = await givenChunked();
  const { testKey } = house;
  const fileKey = await givenUpload(house, testKey, csvOf(anns(5)));
  const world = fated(house, fatesOf("sent", fate, "sent"));

  const told = await whenFiled(world, testKey, processOf(fileKey));
  await whenQuiet({ ...house, world });

  expect(told.data).toMatchObject({ credits_used: 0, credits_remaining: 1_000 });
  expect(told.data.credits_refunded ?? told.data.credits_held).toBe(0);
  expect(await jobIn(house, "job_1", testKey)).toMatchObject({
    status: "completed",
    processed_emails: 3,
  });
  expect(movesOf(house)).toEqual([]);
});

test("a test key's file of which nothing can be queued says that nothing was charged", async () => {
  const house = await givenChunked();
  const fileKey = await givenUpload(house, house.testKey, csvOf(anns(5)));

  const told = await whenFiled(
    fated(house, () => "refused"),
    house.testKey,
    processOf(fileKey),
  );

  expect(told.error.message).toMatch(/Nothing was charged\.$/);
  expect(await jobIn(house, "job_1", house.testKey)).toMatchObject({
    status: "failed",
    error: "None of the addresses could be queued. Nothing was charged.",
  });
});
