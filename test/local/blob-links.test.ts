import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createApiServer } from "@mailproof/local/server/server";
import { createBlobLinks } from "@mailproof/local/storage/blob-links";
import { createFileBlobs } from "@mailproof/local/storage/file-blobs";
import { afterEach, expect, test } from "vitest";
import { givenWorld } from "../app/given.ts";
import { createFolder } from "../servers/running.ts";

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((one) => one.close()));

/** The real server over real files, with a clock that can be moved. */
const givenStore = async () => {
  const { world, later } = givenWorld();
  let baseUrl = "";
  const links = createBlobLinks({
    secret: "a secret for tests",
    baseUrl: () => baseUrl,
    now: world.now,
  });
  const blobs = createFileBlobs(createFolder(), links.sign);
  const listening = createApiServer({ ...world, blobs }, links.open).listen(0, "127.0.0.1");
  servers.push(listening);
  await once(listening, "listening");
  baseUrl = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return { blobs, later };
};

const KEY = "uploads/acc_1/list.csv";
const PUT = { expiresInSeconds: 900, bytesMax: 1_000 };
const GET = {
  expiresInSeconds: 900,
  fileName: 'Ann\'s "list" – ü.csv',
  contentType: "text/csv; charset=utf-8",
};
const put = (link: string, body: string | ReadableStream) =>
  fetch(link, {
    method: "PUT",
    body,
    ...(typeof body !== "string" && { duplex: "half" }),
  } as RequestInit);

test("the upload link accepts a bare PUT, and the download link returns the file", async () => {
  const { blobs } = await givenStore();

  expect((await put((await blobs.presignPut(KEY, PUT)).url, "a@b.c\n")).status).toBe(200);
  const read = await fetch((await blobs.presignGet(KEY, GET)).url);

  expect(await read.text()).toBe("a@b.c\n");
  expect(read.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(read.headers.get("content-disposition")).toBe(
    "attachment; filename=\"Ann_s _list_ _ _.csv\"; filename*=UTF-8''Ann%27s%20%22list%22%20%E2%80%93%20%C3%BC.csv",
  );
});

test.each<[string, (link: string) => string, string]>([
  ["another object's key", (link) => link.replace("list.csv", "other.csv"), "PUT"],
  ["another account's folder", (link) => link.replace("acc_1", "acc_2"), "PUT"],
  ["a higher limit", (link) => link.replace("bytesMax=1000", "bytesMax=9999"), "PUT"],
  ["a later expiry", (link) => link.replace(/until=\d+/, "until=9999999999"), "PUT"],
  ["no expiry", (link) => link.replace(/until=\d+&/, ""), "PUT"],
  ["no signature", (link) => link.replace(/&signature=.*/, ""), "PUT"],
  [
    "a changed signature",
    (link) =>
      link.replace(/signature=./, (start) => (start.endsWith("A") ? "signature=B" : "signature=A")),
    "PUT",
  ],
  ["another method", (link) => link, "GET"],
  ["a method that is never signed", (link) => link, "DELETE"],
])("the blob store refuses a link with %s and writes nothing", async (_, change, method) => {
  const { blobs } = await givenStore();
  const link = change((await blobs.presignPut(KEY, PUT)).url);

  const answer = await fetch(link, { method, ...(method === "PUT" && { body: "x" }) });

  expect(answer.status).toBe(403);
  expect(await blobs.head(KEY)).toBeUndefined();
  expect(await blobs.head("uploads/acc_2/list.csv")).toBeUndefined();
});

test("the blob store accepts a link until its last second and refuses it a second later", async () => {
  const { blobs, later } = await givenStore();
  const link = (await blobs.presignPut(KEY, PUT)).url;

  later(900_000);
  expect((await put(link, "x")).status).toBe(200);
  later(1_000);
  expect((await put(link, "y")).status).toBe(403);
});

test.each<[string, () => string | ReadableStream]>([
  ["with its size", () => "x".repeat(1_001)],
  ["without its size", () => new Blob(["x".repeat(600), "x".repeat(600)]).stream()],
  ["that is far too large", () => "x".repeat(20_000_000)],
])("an upload over the limit %s answers 413 and leaves nothing behind", async (_, body) => {
  const { blobs } = await givenStore();

  expect((await put((await blobs.presignPut(KEY, PUT)).url, body())).status).toBe(413);
  expect(await blobs.head(KEY)).toBeUndefined();
});

test("the blob store accepts a file of exactly the limit", async () => {
  const { blobs } = await givenStore();

  expect((await put((await blobs.presignPut(KEY, PUT)).url, "x".repeat(1_000))).status).toBe(200);
  expect(await blobs.head(KEY)).toMatchObject({ bytes: 1_000 });
});

test.each<[string, () => string | ReadableStream]>([
  ["that is shorter", () => "x".repeat(9)],
  ["that is longer", () => "x".repeat(11)],
  ["that is shorter, without its size", () => new Blob(["x".repeat(9)]).stream()],
  ["that is longer, without its size", () => new Blob(["x".repeat(11)]).stream()],
])("a link for a file of one size refuses a file %s and stores nothing", async (_, body) => {
  const { blobs } = await givenStore();
  const { url } = await blobs.presignPut(KEY, { ...PUT, bytes: 10 });

  const answer = await put(url, body());

  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({
    error: { code: "FORBIDDEN", message: expect.stringContaining("exactly 10 bytes") },
  });
  expect(await blobs.head(KEY)).toBeUndefined();
});

test.each([
  ["without its size", (link: string) => link.replace("&bytes=10", "")],
  ["for another size", (link: string) => link.replace("&bytes=10", "&bytes=11")],
])(
  "the blob store refuses a link for a file of one size after a change to one %s",
  async (_, change) => {
    const { blobs } = await givenStore();
    const { url } = await blobs.presignPut(KEY, { ...PUT, bytes: 10 });

    expect((await put(change(url), "x".repeat(11))).status).toBe(403);
    expect((await put(url, "x".repeat(10))).status).toBe(200);
  },
);

test("a link to a deleted object answers 404", async () => {
  const { blobs } = await givenStore();

  expect((await fetch((await blobs.presignGet(KEY, GET)).url)).status).toBe(404);
});

test.each([
  ["bytes=0-1", 206, "01", "bytes 0-1/10"],
  ["bytes=7-", 206, "789", "bytes 7-9/10"],
  ["bytes=-3", 206, "789", "bytes 7-9/10"],
  ["bytes=5-99", 206, "56789", "bytes 5-9/10"],
  ["bytes=20-30", 200, "0123456789", null],
  ["bytes=0-1,4-5", 200, "0123456789", null],
  ["pages=1-2", 200, "0123456789", null],
])("a download with the range %s answers %i", async (range, status, text, contentRange) => {
  const { blobs } = await givenStore();
  await put((await blobs.presignPut(KEY, PUT)).url, "0123456789");

  const answer = await fetch((await blobs.presignGet(KEY, GET)).url, { headers: { range } });

  expect([answer.status, await answer.text(), answer.headers.get("content-range")]).toEqual([
    status,
    text,
    contentRange,
  ]);
});

test("the blob store allows a page of another origin to follow both links", async () => {
  const { blobs } = await givenStore();

  const sent = await put((await blobs.presignPut(KEY, PUT)).url, "x");
  const read = await fetch((await blobs.presignGet(KEY, GET)).url);

  expect(sent.headers.get("access-control-allow-origin")).toBe("*");
  expect(read.headers.get("access-control-allow-origin")).toBe("*");
});
