import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { inspect } from "node:util";
import { FILE_BYTES_MAX } from "@mailproof/core/intake/uploads";
import { createS3Blobs } from "@mailproof/functions/aws/s3-blobs";
import { createVersionRemover } from "@mailproof/functions/aws/s3-versions";
import { createUploadLimitHandler } from "@mailproof/functions/upload-limit";
import type { S3Event } from "aws-lambda";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { streamPieces } from "../app/form.ts";
import { givenWorld } from "../app/given.ts";
import { CREDENTIALS, createEmulatedAws, DYNAMODB } from "../aws/emulators.ts";
import { createContext } from "../aws/events.ts";
import { createBucket } from "../aws/resources.ts";
import { openSignatureProxy } from "../aws/signature-proxy.ts";
import { describeWith } from "../runner/describe-when.ts";

const KEY = "uploads/live/acc_1/upl_1.csv";
const START_MS = Date.UTC(2026, 10, 21);
const PUT = { expiresInSeconds: 900, bytesMax: 1_000 };
const GET = {
  expiresInSeconds: 900,
  fileName: "Ann's ключ (1).csv",
  contentType: "text/csv; charset=utf-8",
};

describeWith(DYNAMODB, "links to S3", () => {
  let ms = START_MS;
  const now = () => new Date(ms);
  let proxy: Awaited<ReturnType<typeof openSignatureProxy>>;
  beforeAll(async () => {
    proxy = await openSignatureProxy(now);
  });
  afterAll(() => proxy.close());

  const given = async (how: Parameters<typeof createEmulatedAws>[0] = {}) => {
    ms = START_MS;
    const bucket = await createBucket(await createEmulatedAws());
    const blobs = createS3Blobs(
      await createEmulatedAws({ now, endpoints: { s3: proxy.url }, ...how }),
      bucket,
    );
    const read = async (): Promise<string | undefined> => {
      const found = await blobs.get(KEY);
      return found && Buffer.concat(await Array.fromAsync(found.content)).toString();
    };
    return { blobs, read };
  };

  /** What curl sends: nothing of its own but what every client has. */
  const curl = async (link: string, { method = "GET", body = "", headers = {} } = {}) => {
    const always = { "user-agent": "curl/8", accept: "*/*", "content-length": body.length };
    const clientRequest = request(link, { method, headers: { ...always, ...headers } });
    clientRequest.end(body);
    const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];
    const { statusCode: status, headers: responseHeaders } = answer;
    return { status, headers: responseHeaders, text: (await buffer(answer)).toString() };
  };

  test("the S3 adapter signs its own requests as S3 requires", async () => {
    const { blobs, read } = await given();
    await blobs.put(KEY, streamPieces("x".repeat(9_000_000)));
    await blobs.put(KEY, streamPieces("whole"));

    expect(await read()).toBe("whole");
    expect(await blobs.head(KEY)).toMatchObject({ bytes: 5 });
    await blobs.remove(KEY);
    expect(await read()).toBeUndefined();
  });

  test("a bare `curl -T` uploads a file by an S3 link without an extra header", async () => {
    const { blobs, read } = await given();

    const { status } = await curl((await blobs.presignPut(KEY, PUT)).url, {
      method: "PUT",
      body: "a@b.c",
    });

    expect(status).toBe(200);
    expect(await read()).toBe("a@b.c");
  });

  test("an upload by an S3 link may send any content type", async () => {
    const { blobs } = await given();
    const headers = { "content-type": "text/csv" };

    const link = (await blobs.presignPut(KEY, PUT)).url;

    expect(await curl(link, { method: "PUT", body: "a@b.c", headers })).toMatchObject({
      status: 200,
    });
  });

  test("a download by an S3 link returns the file's name and type", async () => {
    const { blobs } = await given();
    await blobs.put(KEY, streamPieces("a@b.c"));

    const { status, headers, text } = await curl((await blobs.presignGet(KEY, GET)).url);

    expect([status, text, headers["content-type"]]).toEqual([200, "a@b.c", GET.contentType]);
    expect(headers["content-disposition"]).toContain("attachment; filename=");
    expect(headers["content-disposition"]).toContain("%D0%BA%D0%BB%D1%8E%D1%87");
  });

  test("an S3 link contains the session token of a Lambda's temporary credentials", async () => {
    const credentials = { ...CREDENTIALS, sessionToken: "a/token+of=passage" };
    const { blobs } = await given({ credentials });
    const link = (await blobs.presignPut(KEY, PUT)).url;

    expect(new URL(link).searchParams.get("X-Amz-Security-Token")).toBe(credentials.sessionToken);
    expect(await curl(link, { method: "PUT", body: "x" })).toMatchObject({ status: 200 });
  });

  test.each([
    ["shorter", "email"],
    ["longer", "ann@example.com, bo@example.com"],
  ])(
    "an S3 link for a file of one size refuses a %s one and stores nothing",
    async (_case, body) => {
      const { blobs, read } = await given();
      const { url } = await blobs.presignPut(KEY, { ...PUT, bytes: 20 });

      expect(await curl(url, { method: "PUT", body })).toMatchObject({ status: 403 });
      expect(await read()).toBeUndefined();
      expect(await curl(url, { method: "PUT", body: "x".repeat(20) })).toMatchObject({
        status: 200,
      });
    },
  );

  test("an S3 link expires with the credentials that signed it and promises no longer life", async () => {
    const expiration = new Date(START_MS + 60_000);
    const session = { ...CREDENTIALS, sessionToken: "a token", expiration };
    const { blobs } = await given({ credentials: session });
    const dying = await openSignatureProxy(now, { sessionEndsAt: expiration });
    onTestFinished(dying.close);

    const { url, expiresInSeconds } = await blobs.presignPut(KEY, PUT);
    ms += 59_000;
    const there = url.replace(proxy.url, dying.url);
    const inTime = await curl(url, { method: "PUT", body: "x" });
    ms += 1_000;
    const tooLate = await curl(there, { method: "PUT", body: "x" });

    expect(expiresInSeconds).toBe(60);
    expect(inTime.status).toBe(200);
    expect([tooLate.status, tooLate.text]).toEqual([400, expect.stringContaining("ExpiredToken")]);
    await expect(blobs.presignPut(KEY, PUT)).rejects.toThrow("expired");
  });

  test.each([
    ["of a Lambda's role, without a stated expiry", { sessionToken: "a token" }, 900],
    ["without an expiry", {}, 3_600],
  ])("an S3 link with credentials %s (%j) lives for at most %i s", async (_case, more, seconds) => {
    const { blobs } = await given({ credentials: { ...CREDENTIALS, ...more } });

    const link = await blobs.presignPut(KEY, { ...PUT, expiresInSeconds: 3_600 });

    expect(link.expiresInSeconds).toBe(seconds);
    expect(new URL(link.url).searchParams.get("X-Amz-Expires")).toBe(String(seconds));
  });

  const changed =
    (name: string, value: string) =>
    (link: string): string => {
      const url = new URL(link);
      url.searchParams.set(name, value);
      return url.href;
    };

  test.each<[string, (link: string) => string, (object | undefined)?]>([
    ["to another key", (link) => link.replace("upl_1.csv", "upl_2.csv")],
    ["to another account's folder", (link) => link.replace("acc_1", "acc_2")],
    ["to another bucket", (link) => link.replace("/bucket-", "/other-")],
    ["with a longer expiry", changed("X-Amz-Expires", "604800")],
    ["with a later start", changed("X-Amz-Date", "20261121T000500Z")],
    ["with another signature", changed("X-Amz-Signature", "0".repeat(64))],
    ["without its signature", (link) => link.replace(/&X-Amz-Signature=\w+/, "")],
    [
      "of another account",
      changed("X-Amz-Credential", "AKIDOTHER/20261121/eu-central-1/s3/aws4_request"),
    ],
    ["with a parameter of its own", (link) => `${link}&acl=`],
    ["by another method", (link) => link, { method: "DELETE" }],
    [
      "with a header of S3's that is not signed",
      (link) => link,
      { headers: { "x-amz-acl": "public-read" } },
    ],
  ])("S3 refuses a link %s for reading and for writing", async (_case, tampered, how = {}) => {
    const { blobs, read } = await given();
    await blobs.put(KEY, streamPieces("as it was"));

    const put = await curl(tampered((await blobs.presignPut(KEY, PUT)).url), {
      method: "PUT",
      body: "x",
      ...how,
    });
    const got = await curl(tampered((await blobs.presignGet(KEY, GET)).url), how);

    expect([put.status, got.status]).toEqual([403, 403]);
    expect(await read()).toBe("as it was");
  });

  test("an S3 upload link does not read, and a download link does not write", async () => {
    const { blobs, read } = await given();
    await blobs.put(KEY, streamPieces("as it was"));

    const got = await curl((await blobs.presignPut(KEY, PUT)).url);
    const put = await curl((await blobs.presignGet(KEY, GET)).url, { method: "PUT", body: "x" });

    expect([got.status, put.status]).toEqual([403, 403]);
    expect(await read()).toBe("as it was");
  });

  test.each([
    ["under another name", "response-content-disposition", "inline"],
    ["as another type", "response-content-type", "text/html"],
  ])("S3 refuses a link to a file %s", async (_case, name, value) => {
    const { blobs } = await given();
    await blobs.put(KEY, streamPieces("x"));
    const link = (await blobs.presignGet(KEY, GET)).url;

    expect(await curl(changed(name, value)(link))).toMatchObject({ status: 403 });
  });

  test("an S3 link expires exactly at its stated time", async () => {
    const { blobs } = await given();
    await blobs.put(KEY, streamPieces("x"));
    const link = (await blobs.presignGet(KEY, GET)).url;

    ms += 899_000;
    expect(await curl(link)).toMatchObject({ status: 200 });
    ms += 1_000;
    expect(await curl(link)).toMatchObject({ status: 403 });
  });
});

const LARGE_KEY = "uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv";
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
          key: LARGE_KEY,
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

  expect(removed).toEqual([`${LARGE_KEY} v1`]);
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
  const handler = createUploadLimitHandler(
    () => Promise.reject(new Error(`no ${LARGE_KEY}`)),
    world.log,
  );

  const thrown = await handler(createEvent({}), createContext()).catch((error: Error) => error);

  expect(inspect(thrown, { showHidden: true })).not.toContain("acc_1");
});

describeWith(DYNAMODB, "the upload limit in S3", () => {
  test("the upload limit's Lambda removes an upload over the limit, even when S3 calls twice", async () => {
    const aws = await createEmulatedAws();
    const bucket = await createBucket(aws);
    const blobs = createS3Blobs(aws, bucket);
    const handler = createUploadLimitHandler(createVersionRemover(aws, bucket), () => {});
    const { url } = await blobs.presignPut(LARGE_KEY, {
      expiresInSeconds: 60,
      bytesMax: FILE_BYTES_MAX,
    });
    await fetch(url, { method: "PUT", body: "a@b.c" });
    await blobs.put("uploads/live/acc_1/upl_2.csv", streamPieces("another"));

    await handler(createEvent({ size: 5 }), createContext());
    expect(await blobs.head(LARGE_KEY)).toMatchObject({ bytes: 5 });
    await handler(createEvent({ size: OVER }), createContext());
    await handler(createEvent({ size: OVER }), createContext());

    expect(await blobs.head(LARGE_KEY)).toBeUndefined();
    expect(await blobs.head("uploads/live/acc_1/upl_2.csv")).toBeDefined();
  });
});
