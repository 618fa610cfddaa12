import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { buffer, json } from "node:stream/consumers";
import { endpoints } from "@mailproof/api/endpoints";
import { CONNECTION_LIMITS, type ConnectionLimits } from "@mailproof/local/server/connections";
import { BYTES_PER_SECOND_MIN, createPace, GRACE_MS } from "@mailproof/local/server/pace";
import { readUpTo } from "@mailproof/local/server/request-body";
import { createApiServer } from "@mailproof/local/server/server";
import {
  UPLOAD_LIMITS,
  type UploadLimits,
  withUploadLimits,
} from "@mailproof/local/server/upload-limits";
import { createBlobLinks } from "@mailproof/local/storage/blob-links";
import { createFileBlobs, ignoreMissing } from "@mailproof/local/storage/file-blobs";
import { expect, onTestFinished, test } from "vitest";
import { createFakeStreamEndpoint } from "../app/fake-endpoints.ts";
import { given } from "../app/given.ts";
import { startServer } from "../servers/listening.ts";
import { createFolder } from "../servers/running.ts";

// Goal: uploads that are slow, never end, or never are processed take a bounded part of this machine.
// Method: the server of one machine over real files, with small limits and a disk whose free space the test says.

type Options = {
  limits?: Partial<UploadLimits>;
  connections?: Partial<ConnectionLimits>;
  folder?: string;
  freeBytes?: () => number;
};

const serve = async ({
  limits = {},
  connections = {},
  folder = createFolder(),
  freeBytes,
}: Options = {}) => {
  const ctx = await given();
  const { world } = ctx;
  let baseUrl = "";
  const links = createBlobLinks({
    secret: "a secret for tests",
    baseUrl: () => baseUrl,
    now: world.now,
  });
  const blobs = withUploadLimits(createFileBlobs(folder, links.sign), {
    directory: folder,
    now: world.now,
    limits: { ...UPLOAD_LIMITS, ...limits },
    ...(freeBytes && { freeBytes }),
  });
  const listening = createApiServer({ ...world, blobs }, links.open, endpoints, {
    ...CONNECTION_LIMITS,
    ...connections,
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    listening.closeAllConnections();
    listening.close();
  });
  await once(listening, "listening");
  baseUrl = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  const options = { expiresInSeconds: 3_600, bytesMax: 52_428_800 };
  const linkTo = async (key: string) =>
    (await blobs.presignPut(`uploads/live/${key}`, options)).url;
  /** The sizes of files that are not whole. */
  const unfinished = async (): Promise<number[]> => {
    const names = await ignoreMissing(readdir(join(folder, "unfinished")));
    const files = (names ?? []).map((name) =>
      ignoreMissing(stat(join(folder, "unfinished", name))),
    );
    return (await Promise.all(files)).flatMap((found) => (found ? [found.size] : []));
  };
  return { ...ctx, baseUrl, blobs, folder, linkTo, unfinished };
};

const put = async (link: string, bytes: number) => {
  const answer = await fetch(link, { method: "PUT", body: "x".repeat(bytes) });
  const body = answer.status === 200 ? {} : await answer.json();
  const { error } = body as { error?: { code: string; money: string } };
  return { status: answer.status, code: error?.code, money: error?.money };
};

const closed = new WeakSet<ClientRequest>();

/** A PUT that sends these bytes and then nothing, until it is ended or destroyed. */
const startPut = async (link: string, bytes: number, isStored: () => Promise<boolean>) => {
  const clientRequest = request(link, { method: "PUT", agent: false });
  clientRequest.on("error", () => undefined);
  clientRequest.once("close", () => closed.add(clientRequest));
  onTestFinished(() => void clientRequest.destroy());
  clientRequest.write("x".repeat(bytes));
  // On a busy machine the server may end it, and delete its bytes, before it was seen to be stored.
  while (!(await isStored()) && !closed.has(clientRequest)) await new Promise(setImmediate);
  return clientRequest;
};

const TAKEN = { status: 200 };
const expectRefused = (status: number, code: string) => ({
  status,
  code,
  money: "nothing_charged",
});

test("the server ends a stalled upload, deletes its bytes, and its link accepts another one", async () => {
  const { linkTo, unfinished, blobs } = await serve({ connections: { stallMs: 500 } });
  const link = await linkTo("acc_1/a.csv");
  const stalled = await startPut(link, 10, async () => (await unfinished()).length === 1);

  while (!closed.has(stalled)) await new Promise(setImmediate);
  while ((await unfinished()).length > 0) await new Promise(setImmediate);

  expect(await put(link, 20)).toEqual(TAKEN);
  expect(await blobs.head("uploads/live/acc_1/a.csv")).toMatchObject({ bytes: 20 });
});

test("an upload link accepts one upload at a time", async () => {
  const { linkTo, unfinished } = await serve();
  const link = await linkTo("acc_1/a.csv");
  const first = await startPut(link, 10, async () => (await unfinished()).length === 1);

  const during = await put(link, 10);
  first.end();
  const [answer] = await once(first, "response");
  const after = await put(link, 10);

  expect(during).toEqual(expectRefused(409, "REQUEST_IN_PROGRESS"));
  expect([answer.statusCode, after]).toMatchObject([200, TAKEN]);
  expect(await unfinished()).toEqual([]);
});

test("an aborted upload frees its link and leaves nothing behind", async () => {
  const { linkTo, unfinished } = await serve({
    limits: { perAccount: 1, bytesInAll: 1_000 },
  });
  const link = await linkTo("acc_1/a.csv");
  const first = await startPut(link, 900, async () => (await unfinished()).length === 1);

  first.destroy();
  while ((await unfinished()).length > 0) await new Promise(setImmediate);
  let after = await put(link, 900);
  // The link is free a moment after the file is gone.
  while (after.status === 409) after = await put(link, 900);

  expect(after).toMatchObject(TAKEN);
});

test("an account uses at most its share of simultaneous uploads, apart from another account's", async () => {
  const { linkTo, unfinished } = await serve({ limits: { perAccount: 2, inAll: 3 } });
  for (const n of [1, 2])
    await startPut(
      await linkTo(`acc_1/${n}.csv`),
      10,
      async () => (await unfinished()).length === n,
    );

  expect(await put(await linkTo("acc_1/3.csv"), 10)).toEqual(expectRefused(429, "RATE_LIMITED"));
  expect(await put(await linkTo("acc_2/1.csv"), 10)).toMatchObject(TAKEN);
  await startPut(await linkTo("acc_2/2.csv"), 10, async () => (await unfinished()).length === 3);
  expect(await put(await linkTo("acc_3/1.csv"), 10)).toEqual(expectRefused(503, "UNAVAILABLE"));
});

test("an account's uploads, even unfinished ones, use its share of the disk until they expire", async () => {
  const { linkTo, unfinished, later, blobs } = await serve({
    limits: { bytesPerAccount: 100_000 },
  });
  await startPut(
    await linkTo("acc_1/a.csv"),
    60_000,
    async () => (await unfinished())[0] === 60_000,
  );

  expect(await put(await linkTo("acc_1/b.csv"), 30_000)).toMatchObject(TAKEN);
  expect(await put(await linkTo("acc_1/c.csv"), 30_000)).toEqual(
    expectRefused(429, "RATE_LIMITED"),
  );
  expect(await blobs.head("uploads/live/acc_1/c.csv")).toBeUndefined();
  expect(await put(await linkTo("acc_2/a.csv"), 30_000)).toMatchObject(TAKEN);
  later(86_400_000);
  expect(await put(await linkTo("acc_1/c.csv"), 30_000)).toMatchObject(TAKEN);
});

test("a removed or overwritten file does not count twice", async () => {
  const { linkTo, blobs } = await serve({ limits: { bytesPerAccount: 100_000 } });

  for (const _ of [1, 2, 3, 4])
    expect(await put(await linkTo("acc_1/a.csv"), 40_000)).toMatchObject(TAKEN);
  await blobs.remove("uploads/live/acc_1/a.csv");
  expect(await put(await linkTo("acc_1/b.csv"), 90_000)).toMatchObject(TAKEN);
});

test("uploads of an earlier process count towards the total", async () => {
  const { linkTo, folder } = await serve();
  expect(await put(await linkTo("acc_1/a.csv"), 60_000)).toMatchObject(TAKEN);

  const again = await serve({ folder, limits: { bytesInAll: 50_000 } });

  expect(await put(await again.linkTo("acc_2/a.csv"), 1)).toEqual(
    expectRefused(503, "UNAVAILABLE"),
  );
});

test("the server refuses an upload when the disk is nearly full, and ends one when it becomes so", async () => {
  let free = UPLOAD_LIMITS.freeBytesMin;
  const looks: number[] = [];
  const { linkTo, unfinished, blobs } = await serve({
    freeBytes: () => {
      looks.push(free);
      return looks.length === 2 ? 0 : free;
    },
  });

  const ended = await put(await linkTo("acc_1/a.csv"), 9_000_000);
  free--;
  const before = await put(await linkTo("acc_1/b.csv"), 1);

  expect([ended, before]).toEqual([
    expectRefused(503, "UNAVAILABLE"),
    expectRefused(503, "UNAVAILABLE"),
  ]);
  expect(looks).toHaveLength(3);
  expect(await unfinished()).toEqual([]);
  expect(await blobs.head("uploads/live/acc_1/a.csv")).toBeUndefined();
});

test("a form upload obeys the same limits and charges nothing", async () => {
  const { baseUrl, liveKey } = await serve({ freeBytes: () => 0 });
  const form = new FormData();
  form.set("file", new Blob(["ann@x.com\n"]), "a.csv");

  const answer = await fetch(`${baseUrl}/v1/verify/file`, {
    method: "POST",
    headers: { "x-api-key": liveKey },
    body: form,
  });

  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("5");
  expect(await answer.json()).toMatchObject({
    error: { code: "UNAVAILABLE", money: "nothing_charged" },
  });
});

test("the server stores accepted lists and exports, however much space uploads use", async () => {
  const { blobs } = await serve({ limits: { bytesInAll: 0, inAll: 0 }, freeBytes: () => 0 });
  const content = (async function* () {
    yield Buffer.from("x");
  })();

  expect(await blobs.put("inputs/live/acc_1/a", content)).toMatchObject({ bytes: 1 });
});

// Goal: what a client sends or takes too slowly, or many times at once, holds no slot for long.
// Method: downloads that are counted while no client reads them; bodies against a clock that the test moves.

const PIECE = Buffer.alloc(1_000_000, "x");

/** Endless, and counts how many of it are open. */
const openStreams = () => {
  const counts = { open: 0 };
  async function* pieces() {
    counts.open++;
    try {
      for (;;) yield PIECE;
    } finally {
      counts.open--;
    }
  }
  return { counts, route: createFakeStreamEndpoint(pieces) };
};

const ask = async (port: number, key: string) => {
  const clientRequest = request({
    port,
    path: "/v1/sample/stream",
    headers: { "x-api-key": key },
    agent: false,
  });
  clientRequest.on("error", () => undefined).end();
  const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];
  answer.on("error", () => undefined);
  return { answer, asking: clientRequest };
};

test("an account may read twenty downloads at a time", async () => {
  const { counts, route } = openStreams();
  const { port, liveKey, testKey } = await startServer([route]);
  const downloads = await Promise.all(Array.from({ length: 20 }, () => ask(port, liveKey)));

  const [next, other] = [await ask(port, liveKey), await ask(port, testKey)];
  const refusal = await json(next.answer);
  expect([next.answer.statusCode, other.answer.statusCode]).toEqual([429, 429]);
  expect(next.answer.headers["retry-after"]).toBe("10");
  expect(refusal).toMatchObject({ error: { code: "RATE_LIMITED", money: "nothing_charged" } });
  expect(counts.open).toBe(20);

  downloads[0]?.asking.destroy();
  while (counts.open > 19) await new Promise(setImmediate);
  expect((await ask(port, liveKey)).answer.statusCode).toBe(200);
});

test("the server ends a download that its client does not read, and closes its source", async () => {
  const { counts, route } = openStreams();
  const { port, liveKey } = await startServer([route], { stallMs: 100 });

  const { answer, asking: clientRequest } = await ask(port, liveKey);
  expect(counts.open).toBe(1);
  while (counts.open > 0) await new Promise(setImmediate);

  clientRequest.destroy();
  await expect(buffer(answer)).rejects.toThrow("aborted");
});

const paceWithClock = () => {
  let ms = 0;
  const pace = createPace(() => ms);
  const wait = (more: number) => pace.waitFor(Promise.resolve().then(() => (ms += more)));
  return { pace, wait, later: (more: number) => (ms += more) };
};

test("a client counts as slow when the server has waited for its bytes longer than the grace period", async () => {
  const { pace, wait, later } = paceWithClock();
  later(3_600_000);
  await wait(GRACE_MS);
  expect(pace.isTooSlow()).toBe(false);
  await wait(1);
  expect(pace.isTooSlow()).toBe(true);
  pace.addBytes((BYTES_PER_SECOND_MIN * GRACE_MS) / 1_000 + 5);
  expect(pace.isTooSlow()).toBe(false);
});

test("the server refuses a body that trickles and reads a fast one", async () => {
  const read = async (bytesEachSecond: number) => {
    let ms = 0;
    const body = Object.assign(new PassThrough(), { headers: {} });
    const source = readUpTo(
      50_000_000,
      body as unknown as IncomingMessage,
      () => new Error("too large"),
      undefined,
      createPace(() => ms),
    );
    let bytes = 0;
    for (let second = 0; second < 120; second++) {
      const next = source.next();
      ms += 1_000;
      body.write(Buffer.alloc(bytesEachSecond));
      bytes += (await next).value?.length ?? 0;
    }
    return bytes;
  };

  await expect(read(100)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    money: "nothing_charged",
    message: expect.stringContaining("5000 bytes a second"),
  });
  expect(await read(6_000)).toBe(720_000);
});
