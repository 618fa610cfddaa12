import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { createReading } from "@mailproof/core/deliverability/reading";
import { ReportFault } from "@mailproof/core/deliverability/reports/report-fault";
import { lowerPriority } from "@mailproof/local/lower-priority";
import { createReadingThreads, READING_LIMITS } from "@mailproof/local/reading/reading-threads";
import { expect, onTestFinished, test } from "vitest";
import { given } from "../app/given.ts";
import { createDmarcReport } from "../things/made-reports.ts";
import { whenMailArrives } from "../things/mail-tests.ts";
import { assess } from "../things/mails.ts";
import {
  createDailyReport,
  createReportMail,
  readReportsAddress,
  toReceived,
  uploadFile,
} from "../things/reports.ts";

// Goal: what anyone sends to be read costs a bounded part of this machine, and requests do not wait for it.
// Method: hostile files, read by the threads of one machine, with limits that the test lowers. What is counted is turns of
// this thread's event loop, ended threads, refusals and bytes.

/** The world of one machine. */
const setup = async (limits: Partial<typeof READING_LIMITS> = {}, start?: () => Worker) => {
  const ctx = await given();
  const threads = createReadingThreads(ctx.world, { ...READING_LIMITS, ...limits }, start);
  onTestFinished(threads.close);
  return { ...ctx, world: { ...ctx.world, reading: createReading(ctx.world.now, threads.run) } };
};

/** 29 KB that unpack to 20 MB. */
const ENTITIES = gzipSync(`<feedback><report_metadata>${"&#32;".repeat(3_990_000)}`);

/** How often the event loop turns until the work is done. */
const countTurns = async (work: Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isDone = false;
  void work.finally(() => (isDone = true));
  while (!isDone) {
    await new Promise(setImmediate);
    turns++;
  }
  return turns;
};

test("a separate thread reads a report, and requests receive their turns meanwhile", async () => {
  const { world, testKey } = await setup();
  await uploadFile(world, testKey, createDailyReport());

  const uploading = uploadFile(world, testKey, ENTITIES);

  expect(await countTurns(uploading)).toBeGreaterThan(100);
  expect((await uploading).error).toMatchObject({
    code: "INVALID_REQUEST",
    details: [{ field: "feedback", message: "does not end; the file is cut off" }],
  });
});

test.each([
  ["time", { readMs: 1 }],
  ["memory", { heapMegabytes: 8 }],
])(
  "the service ends a reading thread that needs too much %s and refuses its file with the reason",
  async (_what, limits) => {
    const { world, testKey } = await setup(limits);
    const records = "<record><row><source_ip>192.0.2.1</source_ip><count>1</count></row></record>";
    const file = createDmarcReport({ records: [records.repeat(90_000)] });

    const { statusCode, error } = await uploadFile(world, testKey, gzipSync(file));

    expect([statusCode, error.code]).toEqual([400, "INVALID_REQUEST"]);
    expect(error.message).toContain("file: takes more time or memory to read");
  },
);

test("a reading thread that cannot start counts as our failure and not as the report's fault", async () => {
  const { world, testKey } = await setup({}, () => new Worker("/nowhere.js"));

  const { statusCode, error } = await uploadFile(world, testKey, createDailyReport());

  expect({ statusCode, code: error?.code }).toEqual({ statusCode: 500, code: "INTERNAL" });
});

test("one reading thread handles reports that follow soon, and ends when none follows", async () => {
  const ends: Promise<unknown>[] = [];
  const note = (worker: Worker) => void ends.push(once(worker, "exit"));
  process.on("worker", note);
  onTestFinished(() => void process.off("worker", note));
  const { world, testKey } = await setup({ idleMs: 1_000 });

  await uploadFile(world, testKey, createDailyReport({ daysBefore: 1 }));
  await uploadFile(world, testKey, createDailyReport({ daysBefore: 2 }));

  expect(ends).toHaveLength(1);
  await ends[0];
  const { statusCode } = await uploadFile(world, testKey, createDailyReport({ daysBefore: 3 }));
  expect([statusCode, ends.length]).toEqual([201, 2]);
});

test("an account whose reports used its share of a minute is deferred, and others are read", async () => {
  const { world, later } = await setup({ readMs: 1, shareMsPerMinute: 1 });
  const read = (who: string) => world.reading.run(who, "readUploadedReport", gzipSync(""));
  await expect(read("a")).rejects.toThrow(ReportFault);

  await expect(read("a")).rejects.toThrow("too much time to read in this minute");
  await expect(read("b")).rejects.toThrow(ReportFault);
  later(60_000);
  await expect(read("a")).rejects.toThrow(ReportFault);
});

/** Unpacked to its end before its checksum turns out to be wrong. */
const createBrokenBomb = (): Buffer => {
  const bomb = gzipSync(Buffer.alloc(19_900_000));
  bomb.writeUInt8((bomb.at(-6) ?? 0) ^ 1, bomb.length - 6);
  return bomb;
};

test("mails with ten bombs each unpack at most a minute's bytes when all of them fail", async () => {
  const { world, liveKey } = await setup();
  const address = await readReportsAddress(world, liveKey);
  const bombs = Array.from({ length: 10 }, () => ({ content: createBrokenBomb() }));
  const mail = toReceived(createReportMail(bombs));
  const { take } = world.reading.unpacked;
  let taken = 0;
  const unpacked = {
    ...world.reading.unpacked,
    take: (who: string, amount: number) => {
      taken += amount;
      return take(who, amount);
    },
  };
  const counted = { ...world, reading: { ...world.reading, unpacked } };

  const outcomes = await Promise.all(
    Array.from({ length: 45 }, () => whenMailArrives(counted, address, mail)),
  );

  expect(outcomes.filter((outcome) => outcome === "busy").length).toBeGreaterThanOrEqual(43);
  expect(taken).toBeLessThanOrEqual(25_000_000);
});

test("the service counts the cost of unpacking that fails", async () => {
  const { world } = await setup();
  const mail = Buffer.from(createReportMail([{ content: createBrokenBomb() }]));

  const { reports, unpackedBytes } = await world.reading.run(
    "a",
    "readMailedReports",
    mail,
    25_000_000,
  );

  expect(reports).toEqual([]);
  expect(unpackedBytes).toBeGreaterThanOrEqual(19_900_000);
});

test("the service reads the first 500 of 440,000 links in a text", async () => {
  const links = Array.from({ length: 440_000 }, (_, n) => `http://a${n}.example`).join("\r\n");

  const { body } = await assess(`Subject: x\r\n\r\n${links}`);

  expect(body.links.count).toBe(500);
});

test("2,000 faulty signatures produce no larger report than eleven", async () => {
  const sign = (_: unknown, n: number) =>
    `DKIM-Signature: v=1; a=rsa-sha256; d=d${n}.example; s=s; h=subject:to; bh=AA==; b=AA==\r\n`;
  const write = (length: number) =>
    `${Array.from({ length }, sign).join("")}From: ann@example.com\r\n\r\nHello.`;

  const [few, many] = await Promise.all([assess(write(11)), assess(write(2_000))]);

  expect(many.dkim).toHaveLength(11);
  expect(JSON.stringify(many).length).toBeLessThan(JSON.stringify(few).length + 1_000);
});

test("an unreadable mail ends in a fault that crosses the thread boundary", async () => {
  const { world } = await setup({ readMs: 1 });

  await expect(world.reading.run("a", "readMessage", Buffer.from("x"))).rejects.toThrow(
    ReportFault,
  );
});

test("a reading thread continues when the system refuses its lower priority", () => {
  // Linux gives no process a number so large.
  expect(() => lowerPriority(2 ** 30)).not.toThrow();
});
