import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { expect, test } from "vitest";
import { streamPieces } from "../app/form.ts";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import {
  answerWith,
  injectFaults,
  loseAfter,
  loseBefore,
  refuseConnection,
  repeatFault,
} from "../aws/faults.ts";
import { createBucket } from "../aws/resources.ts";
import { describeWith } from "../runner/describe-when.ts";

const KEY = "inputs/job_1";
const LARGE_BYTES = 20_000_000;

const given = async (operation: string, faults: Parameters<typeof injectFaults>[1]) => {
  const sound = await createEmulatedAws();
  const bucket = await createBucket(sound);
  const requests: string[] = [];
  const aws = await createEmulatedAws({
    between: (next) => {
      const faulty = injectFaults(operation, faults)(next);
      return (request, timeoutMs) => {
        requests.push(`${request.method} ${Object.keys(request.query).join()}`.trim());
        return faulty(request, timeoutMs);
      };
    },
  });
  return {
    blobs: createS3Blobs(aws, bucket),
    sound: createS3Blobs(sound, bucket),
    asked: requests,
  };
};

const slowDown = answerWith(503, "<Error><Code>SlowDown</Code></Error>");
const brokenAsSuccess = answerWith(200, "<Error><Code>InternalError</Code></Error>");
const broken = answerWith(500, "<Error><Code>InternalError</Code></Error>");

describeWith(DYNAMODB, "faults between the adapter and S3", () => {
  test.each([
    ["is lost before S3 stored the object", [loseBefore]],
    ["is lost after S3 stored the object", [loseAfter]],
    ["asks to slow down", [slowDown, slowDown]],
    ["is an error inside S3", [broken]],
    ["is missing for lack of a connection", [refuseConnection]],
  ])("the S3 adapter repeats a put whose answer %s", async (_case, faults) => {
    const { blobs, sound } = await given("PUT", faults);

    const metadata = await blobs.put(KEY, streamPieces("whole"));

    expect(await sound.head(KEY)).toEqual(metadata);
  });

  test("the S3 adapter repeats each part of a large file separately", async () => {
    const { blobs, sound, asked: requests } = await given("PUT", [loseAfter, slowDown]);

    const metadata = await blobs.put(KEY, large());

    expect(metadata.bytes).toBe(LARGE_BYTES);
    expect(await sound.head(KEY)).toEqual(metadata);
    expect(requests.filter((one) => one.startsWith("PUT"))).toHaveLength(5);
  });

  test("the S3 adapter sends one part while the next is produced, and S3 keeps the parts in order", async () => {
    const secondArrived = Promise.withResolvers<void>();
    const { blobs, sound } = await given("PUT", [
      async (next) => {
        await secondArrived.promise;
        return next();
      },
      (next) => next().finally(secondArrived.resolve),
    ]);
    const pieces = ["a", "b", "c"].map((letter) => Buffer.alloc(LARGE_BYTES / 3, letter));

    const metadata = await blobs.put(KEY, streamPieces(...pieces));

    const stored = await sound.get(KEY, { version: metadata.version });
    const content = Buffer.concat(await Array.fromAsync(stored?.content ?? []));
    expect(content.equals(Buffer.concat(pieces))).toBe(true);
  });

  test("the S3 adapter sends at most three parts at once", async () => {
    const counts = { now: 0, most: 0 };
    const counted = async <T>(next: () => Promise<T>): Promise<T> => {
      counts.now += 1;
      counts.most = Math.max(counts.most, counts.now);
      return next().finally(() => (counts.now -= 1));
    };
    const { blobs } = await given("PUT", repeatFault(9, counted));

    await blobs.put(KEY, streamPieces(...Array<Buffer>(6).fill(Buffer.alloc(9_000_000))));

    expect(counts.most).toBe(3);
  });

  test("the S3 adapter abandons a large file only when no part is being sent", async () => {
    const order: string[] = [];
    const { blobs, asked: requests } = await given("PUT", [
      answerWith(400, "<Error/>"),
      async (next) => {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(requests.some((one) => one.startsWith("DELETE")) ? "too late" : "in time");
        return next();
      },
    ]);

    await expect(blobs.put(KEY, large())).rejects.toThrow("a part");

    expect(order).toEqual(["in time"]);
    expect(requests.at(-1)).toMatch(/^DELETE .*uploadId/);
  });

  test.each([
    ["a part never arrives", "PUT", repeatFault(9, loseBefore)],
    [
      "S3 refuses its completion",
      "POST",
      [(next: () => never) => next(), answerWith(400, "<Error/>")],
    ],
    [
      "its completion is an error inside a 200",
      "POST",
      [(next: () => never) => next(), ...repeatFault(3, brokenAsSuccess)],
    ],
  ])(
    "the S3 adapter abandons a large file and keeps the old object when %s",
    async (_case, method, faults) => {
      const {
        blobs,
        sound,
        asked: requests,
      } = await given(method, faults as Parameters<typeof injectFaults>[1]);
      const before = await sound.put(KEY, streamPieces("before"));

      await expect(blobs.put(KEY, large())).rejects.toThrow(/a part|an upload/);

      expect(await sound.head(KEY)).toEqual(before);
      expect(requests.at(-1)).toMatch(/^DELETE .*uploadId/);
    },
  );

  test("the S3 adapter repeats the completion of a large file after an error inside S3, even inside a 200", async () => {
    const { blobs, sound } = await given("POST", [(next) => next(), brokenAsSuccess]);

    const metadata = await blobs.put(KEY, large());

    expect(await sound.head(KEY)).toEqual(metadata);
  });

  test("the reader of an S3 object gets an error when its content aborts", async () => {
    const breaking = async () => ({
      statusCode: 200,
      headers: { etag: '"x"', "content-length": "10" },
      body: Readable.from(
        (async function* () {
          yield Buffer.from("12345");
          throw new Error("the line broke");
        })(),
      ),
    });
    const { blobs } = await given("GET", [breaking]);
    const found = await blobs.get(KEY);

    await expect(Array.fromAsync(found?.content ?? [])).rejects.toThrow("the line broke");
  });

  test("the S3 adapter throws S3's refusal by name instead of reporting absence", async () => {
    const { blobs } = await given("GET", [
      answerWith(403, "<Error><Code>AccessDenied</Code></Error>"),
    ]);

    await expect(blobs.get(KEY)).rejects.toThrow("AccessDenied");
  });

  test("the reader of an empty S3 object gets no bytes", async () => {
    const { blobs } = await given("no request", []);
    await blobs.put(KEY, streamPieces());
    const found = await blobs.get(KEY, { range: { from: 0, to: 9 } });

    expect(found?.bytes).toBe(0);
    expect((await buffer(Readable.from(found?.content ?? []))).length).toBe(0);
  });
});

async function* large(): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < 20; n++) yield Buffer.alloc(LARGE_BYTES / 20, "x");
}
