import {
  createUpload,
  FILE_BYTES_MAX,
  findUpload,
  getFileName,
  storeUpload,
} from "@mailproof/core/intake/uploads";
import { Failure } from "@mailproof/core/lib/failure";
import type { World } from "@mailproof/core/ports/world";
import { expect, test } from "vitest";
import { rejectDown } from "../../app/faulty-worlds.ts";
import { givenWorld } from "../../app/given.ts";
import { asRows } from "../../runner/as-rows.ts";
import { whenPut } from "../../things/jobs.ts";
import { getPieces } from "./ingest-content.ts";

const ANN = { account: "acc_1", mode: "live", plan: "pro" } as const;
const TEST = { ...ANN, mode: "test" } as const;
const CSV = { kind: "csv", name: "a.csv" } as const;
const BO = { ...ANN, account: "acc_2" } as const;

const getText = async (content: AsyncIterable<Uint8Array>): Promise<string> =>
  Buffer.concat(await Array.fromAsync(content)).toString();

const getCode = (step: Promise<unknown>): Promise<string> =>
  step.then(
    () => "found",
    (error: unknown) => (error instanceof Failure ? `${error.code} ${error.money}` : "a bug"),
  );

test("each upload has its own key below its account and kind of key, and its link states a limit", async () => {
  const { world } = givenWorld();
  const links: unknown[] = [];
  const putLink: World["blobs"]["presignPut"] = async (key, options) => {
    links.push(options);
    return { url: `https://blobs.example/${key}`, expiresInSeconds: 1_000 };
  };
  const linking = { ...world, blobs: { ...world.blobs, presignPut: putLink } };

  const uploads = [
    await createUpload(linking, ANN, CSV),
    await createUpload(linking, ANN, { kind: "txt", name: "Käufer.txt" }),
    await createUpload(linking, TEST, CSV),
  ];

  expect(uploads.map(({ key }) => key)).toEqual([
    "uploads/live/acc_1/upl_1.YS5jc3Y.csv",
    "uploads/live/acc_1/upl_2.S8OkdWZlci50eHQ.txt",
    "uploads/test/acc_1/upl_3.YS5jc3Y.csv",
  ]);
  expect(uploads.map(({ key }) => getFileName(key))).toEqual(["a.csv", "Käufer.txt", "a.csv"]);
  expect(links).toEqual(Array(3).fill({ expiresInSeconds: 3_600, bytesMax: 52_428_800 }));
  expect(uploads.map(({ expiresInSeconds }) => expiresInSeconds)).toEqual([1_000, 1_000, 1_000]);
});

test("the link of an upload states the declared size, and a size over the limit gets no link", async () => {
  const { world } = givenWorld();
  const sizes: unknown[] = [];
  const presignPut: World["blobs"]["presignPut"] = async (key, { bytes, expiresInSeconds }) => {
    sizes.push(bytes);
    return { url: `https://blobs.example/${key}`, expiresInSeconds };
  };
  const linking = { ...world, blobs: { ...world.blobs, presignPut } };

  await createUpload(linking, ANN, { ...CSV, bytes: 52_428_800 });

  expect(await getCode(createUpload(linking, ANN, { ...CSV, bytes: 52_428_801 }))).toBe(
    "PAYLOAD_TOO_LARGE nothing_charged",
  );
  expect(sizes).toEqual([52_428_800]);
});

test.each(asRows`
  the account's own key | ${ANN} | uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv | found
  another account's key | ${BO} | uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv | FORBIDDEN nothing_charged
  a live upload for a test key | ${TEST} | uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv | FORBIDDEN nothing_charged
  a key of an account whose id begins alike | ${{ ...ANN, account: "acc" }} | uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv | FORBIDDEN nothing_charged
  a key without a file | ${ANN} | uploads/live/acc_1/upl_2.bGlzdC5jc3Y.csv | NOT_FOUND nothing_charged
  the key of an input | ${ANN} | inputs/job_1.jsonl | NOT_FOUND nothing_charged
  a key in a folder below | ${ANN} | uploads/live/acc_1/x/upl_1.bGlzdC5jc3Y.csv | NOT_FOUND nothing_charged
  a key with a path upwards | ${ANN} | uploads/live/acc_1/../acc_1/upl_1.bGlzdC5jc3Y.csv | NOT_FOUND nothing_charged
  a key with a line break | ${ANN} | ${"uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv\n"} | NOT_FOUND nothing_charged
  an empty key | ${ANN} | ${""} | NOT_FOUND nothing_charged
`)("the look-up of an upload checks the file_key: %s", async (_case, payer, key, code) => {
  const { world, blobs } = givenWorld();
  for (const prefixes of ["uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv", "inputs/job_1.jsonl"])
    await whenPut({ blobs }, prefixes, "ann@x.com");

  expect(await getCode(findUpload(world, payer, key))).toBe(code);
});

test("the look-up of an upload pins the version of the file at that time", async () => {
  const { world, blobs } = givenWorld();
  const key = "uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv";
  await whenPut({ blobs }, key, "old");

  const found = await findUpload(world, ANN, key);
  await whenPut({ blobs }, key, "new");

  expect(await getText(found.content)).toBe("old");
});

test.each([
  [FILE_BYTES_MAX, "found"],
  [FILE_BYTES_MAX + 1, "PAYLOAD_TOO_LARGE nothing_charged"],
])("reading an uploaded file of %i stored bytes answers %s", async (bytes, code) => {
  const { world, blobs } = givenWorld();
  const key = "uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv";
  await whenPut({ blobs }, key, "x");
  const head: World["blobs"]["head"] = async () => {
    const metadata = await blobs.head(key);
    return metadata && { ...metadata, bytes };
  };

  expect(await getCode(findUpload({ ...world, blobs: { ...blobs, head } }, ANN, key))).toBe(code);
});

test("the service stores a file of the request beside uploads, under a key of its content", async () => {
  const { world, blobs } = givenWorld();
  const putText = (text: string, pieces: number) =>
    storeUpload(world, ANN, CSV, getPieces(Buffer.from(text), pieces));

  const [one, cutOtherwise, other] = [
    await putText("ann@x.com\n", 3),
    await putText("ann@x.com\n", 100),
    await putText("bo@x.com\n", 3),
  ];

  expect(one.key).toBe("uploads/live/acc_1/upl_1.YS5jc3Y.csv");
  expect(await getText((await findUpload(world, ANN, one.key)).content)).toBe("ann@x.com\n");
  expect(cutOtherwise).toMatchObject({
    hash: one.hash,
    key: "uploads/live/acc_1/upl_2.YS5jc3Y.csv",
  });
  expect(other.hash).not.toBe(one.hash);
  expect(blobs.keys()).toHaveLength(3);
});

async function* endless(): AsyncGenerator<Uint8Array> {
  const piece = Buffer.alloc(1_000_000, "x");
  for (;;) yield piece;
}

test("the service reads an endless file up to the limit, and stores nothing", async () => {
  const { world, blobs } = givenWorld();

  expect(await getCode(storeUpload(world, ANN, CSV, endless()))).toBe(
    "PAYLOAD_TOO_LARGE nothing_charged",
  );
  expect(blobs.keys()).toEqual([]);
});

test("an oversized file throws its own error instead of the store's", async () => {
  const { world, blobs } = givenWorld();
  const put: World["blobs"]["put"] = (key, content) =>
    blobs.put(key, content).catch(() => Promise.reject(new Error("the upload was aborted")));

  expect(
    await getCode(storeUpload({ ...world, blobs: { ...blobs, put } }, ANN, CSV, endless())),
  ).toBe("PAYLOAD_TOO_LARGE nothing_charged");
});

async function* malformed(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("ann");
  throw new Failure("INVALID_REQUEST", "nothing_charged", "The form broke off.");
}

test("the service reports a fault of the form as itself, and a failure of the store as itself", async () => {
  const { world, blobs } = givenWorld();
  const broken = { ...world, blobs: { ...blobs, put: rejectDown, presignPut: rejectDown } };

  const codes = [
    await getCode(storeUpload(world, ANN, CSV, malformed())),
    await getCode(storeUpload(broken, ANN, CSV, getPieces(Buffer.from("ann")))),
    await getCode(createUpload(broken, ANN, CSV)),
  ];

  expect(codes).toEqual([
    "INVALID_REQUEST nothing_charged",
    "UNAVAILABLE nothing_charged",
    "UNAVAILABLE nothing_charged",
  ]);
});
