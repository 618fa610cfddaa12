import { inspect } from "node:util";
import { FILE_BYTES_MAX } from "@mailproof/core/intake/uploads";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createVersionRemover } from "@mailproof/functions/aws/s3-versions";
import { createUploadLimitHandler } from "@mailproof/functions/upload-limit";
import type { S3Event } from "aws-lambda";
import { expect, test } from "vitest";
import { streamPieces } from "../app/form.ts";
import { givenWorld } from "../app/given.ts";
import { createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createContext } from "../aws/events.ts";
import { createBucket } from "../aws/resources.ts";
import { describeWith } from "../runner/describe-when.ts";

const KEY = "uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv";
const OVER = FILE_BYTES_MAX + 1;

/** What S3 calls a Lambda with after a PUT to a bucket that keeps versions. */
const createEvent = (object: Partial<S3Event["Records"][0]["s3"]["object"]>): S3Event => ({
  Records: [
    {
      eventVersion: "2.1",
      eventSource: "aws:s3",
      awsRegion: "eu-central-1",
      eventTime: "2026-11-21T00:00:00.000Z",
      eventName: "ObjectCreated:Put",
      userIdentity: { principalId: "AWS:AROAEXAMPLE:mailproof-HttpVerifyFile" },
      requestParameters: { sourceIPAddress: "203.0.113.7" },
      responseElements: { "x-amz-request-id": "C3D13FE58DE4C810", "x-amz-id-2": "FMyUVURIY8" },
      s3: {
        s3SchemaVersion: "1.0",
        configurationId: "UploadLimit",
        bucket: {
          name: "blobs",
          ownerIdentity: { principalId: "A3NL1KOZZKExample" },
          arn: "arn:aws:s3:::blobs",
        },
        object: {
          key: KEY,
          size: OVER,
          eTag: "d41d8cd98f00b204e9800998ecf8427e",
          versionId: "096fKKXTRTtl3on89fVO.nfljtsv6qko",
          sequencer: "0055AED6DCD90281E5",
          ...object,
        },
      },
    },
  ],
});

const setup = () => {
  const { world, logged } = givenWorld();
  const removed: string[] = [];
  const handler = createUploadLimitHandler(
    async (key, versionId) => void removed.push(`${key} ${versionId}`),
    world.log,
  );
  return { removed, logged, call: (event: S3Event) => handler(event, createContext()) };
};

test("the upload limit's Lambda removes the version of an upload over the limit and keeps later ones", async () => {
  const { removed, logged, call } = setup();

  await call(createEvent({ versionId: "v1" }));

  expect(removed).toEqual([`${KEY} v1`]);
  expect(logged).toMatchObject([
    { event: "upload_removed", fields: { account: "acc_1", bytes: OVER } },
  ]);
});

test("the upload limit's Lambda keeps an upload within the limit", async () => {
  const { removed, call } = setup();

  await call(createEvent({ size: FILE_BYTES_MAX }));
  await call(createEvent({ size: 0 }));

  expect(removed).toEqual([]);
});

test("the upload limit's Lambda decodes a key as S3 encodes it in events", async () => {
  const { removed, call } = setup();

  await call(createEvent({ key: "uploads%2Flive/acc_1/upl_1.csv", versionId: "v1" }));

  expect(removed).toEqual(["uploads/live/acc_1/upl_1.csv v1"]);
});

test("the upload limit's Lambda throws for an upload without a version, since a removal could hit a later one", async () => {
  const { removed, logged, call } = setup();
  const { s3, ...record } = createEvent({}).Records[0]!;
  const { versionId: _, ...object } = s3.object;

  await expect(
    call({ Records: [{ ...record, s3: { ...s3, object } }] } as S3Event),
  ).rejects.toThrow("upload_limit_failed");
  expect(removed).toEqual([]);
  expect(logged).toMatchObject([{ event: "upload_limit_failed" }]);
});

test("a failure of the upload limit's Lambda appears in our own log and in no log line by AWS", async () => {
  const { world } = givenWorld();
  const handler = createUploadLimitHandler(() => Promise.reject(new Error(`no ${KEY}`)), world.log);

  const thrown = await handler(createEvent({}), createContext()).catch((error: Error) => error);

  expect(inspect(thrown, { showHidden: true })).not.toContain("acc_1");
});

describeWith(DYNAMODB, "the upload limit in S3", () => {
  test("the upload limit's Lambda removes an upload over the limit, even when S3 calls twice", async () => {
    const aws = await createEmulatedAws();
    const bucket = await createBucket(aws);
    const blobs = createS3Blobs(aws, bucket);
    const handler = createUploadLimitHandler(createVersionRemover(aws, bucket), () => {});
    const { url } = await blobs.presignPut(KEY, { expiresInSeconds: 60, bytesMax: FILE_BYTES_MAX });
    await fetch(url, { method: "PUT", body: "a@b.c" });
    await blobs.put("uploads/live/acc_1/upl_2.csv", streamPieces("another"));

    await handler(createEvent({ size: 5 }), createContext());
    expect(await blobs.head(KEY)).toMatchObject({ bytes: 5 });
    await handler(createEvent({ size: OVER }), createContext());
    await handler(createEvent({ size: OVER }), createContext());

    expect(await blobs.head(KEY)).toBeUndefined();
    expect(await blobs.head("uploads/live/acc_1/upl_2.csv")).toBeDefined();
  });
});
