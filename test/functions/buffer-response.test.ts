import { downloadJob } from "@mailproof/api/endpoints/download-job";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { Failure } from "@mailproof/core/lib/failure";
import { lambda } from "@mailproof/functions/lambda";
import { expect, test } from "vitest";
import { toBytes, toEvent } from "../../infra/gateway-event.ts";
import { whenWorked } from "../app/drain-queues.ts";
import {
  createCountedPieces,
  createFakeDataEndpoint,
  createFakeStreamEndpoint,
  failAfter,
  fakeFormEndpoint,
} from "../app/fake-endpoints.ts";
import { encodeForm } from "../app/form.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
import { getRecords } from "../things/downloads.ts";
import { createRows, givenJobOf, verifyEmail } from "../things/export-jobs.ts";

const RESPONSE_BYTES_MAX = 4_500_000;

const whenRequested = async (endpoint: Endpoint, type = "", body?: Buffer) => {
  const { world, liveKey } = await given();
  const [method = "", url = ""] = endpoint.route.split(" ");
  const headers = [
    ["x-api-key", liveKey],
    ["content-type", type],
  ] as const;
  const event = toEvent({ method, url, headers, ...(body && { body }) }, [endpoint]);
  return lambda(endpoint, world)(event, createContext());
};

/** What Lambda hands over, as JSON, may have this many bytes. */
const RESULT_BYTES_MAX = 6_291_556;

test.each([
  ["of plain text", "x"],
  ["of quotes, which JSON escapes", '"'],
  ["of control characters, which JSON expands sixfold", "\u0001"],
  ["of letters outside ASCII", "é"],
])("a Lambda returns a response %s of the maximum size whole", async (_case, letter) => {
  const piece = letter.repeat(5_000 / Buffer.byteLength(letter));
  const answer = await whenRequested(
    createFakeStreamEndpoint(createCountedPieces(900, piece).pieces),
  );

  expect(toBytes(answer).length).toBe(RESPONSE_BYTES_MAX);
  expect(toBytes(answer).toString()).toBe(piece.repeat(900));
  expect(answer.headers?.["content-type"]).toBe("text/csv; charset=utf-8");
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(RESULT_BYTES_MAX);
});

test.each([
  ["of quotes, which JSON escapes", '"'],
  ["of letters outside ASCII", "é"],
])("a JSON response %s stays below Lambda's limit", async (_case, letter) => {
  const text = letter.repeat(4_400_000 / Buffer.byteLength(JSON.stringify(letter).slice(1, -1)));
  const answer = await whenRequested(createFakeDataEndpoint({ text }));

  expect(JSON.parse(toBytes(answer).toString())).toEqual({ success: true, data: { text } });
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(RESULT_BYTES_MAX);
});

test("a JSON response above Lambda's limit answers our 500 instead of the gateway's 502", async () => {
  const answer = await whenRequested(createFakeDataEndpoint({ text: "x".repeat(5_000_000) }));

  expect(answer.statusCode).toBe(500);
  expect(JSON.parse(String(answer.body))).toMatchObject({ error: { code: "INTERNAL" } });
});

test("a response above Lambda's limit redirects to a file, and its source is closed before", async () => {
  const { asked: consumed, pieces } = createCountedPieces(1_000_000, "x".repeat(100_000));
  const order: string[] = [];
  void consumed.closed.then(() => order.push("closed"));
  const elsewhere = async () => {
    order.push("elsewhere");
    return "https://blobs.example/exports/1?signature=x";
  };

  const answer = await whenRequested(createFakeStreamEndpoint(pieces, elsewhere));

  expect(answer).toMatchObject({ statusCode: 303, body: "" });
  expect(answer.headers).toMatchObject({
    location: "https://blobs.example/exports/1?signature=x",
    "content-disposition": 'attachment; filename="results.csv"',
    "cache-control": "no-store",
    "x-ratelimit-remaining": "599",
    "x-request-id": expect.any(String),
  });
  expect(answer.headers).not.toHaveProperty("content-type");
  expect(order).toEqual(["closed", "elsewhere"]);
  expect(consumed.pieces).toBe(RESPONSE_BYTES_MAX / 100_000 + 1);
});

test("a response whose file is still being written answers that failure without the file's headers", async () => {
  const pieces = createCountedPieces(50, "x".repeat(100_000)).pieces;
  const endpoint = createFakeStreamEndpoint(pieces, async () => {
    const options = { retryable: true, retryAfterMs: 2_000 };
    throw new Failure("NOT_READY", "nothing_charged", "The file is being made.", options);
  });

  const answer = await whenRequested(endpoint);

  expect(answer.statusCode).toBe(409);
  expect(JSON.parse(answer.body ?? "").error).toMatchObject({ code: "NOT_READY", retryable: true });
  expect(answer.headers).toMatchObject({
    "retry-after": "2",
    "content-type": "application/json; charset=utf-8",
    "x-request-id": expect.any(String),
  });
  expect(answer.headers).not.toHaveProperty("content-disposition");
});

test.each<[string, Endpoint]>([
  ["midway", createFakeStreamEndpoint(() => failAfter("a,b\r\n", "c,"))],
  [
    "while it is stored as a file",
    createFakeStreamEndpoint(createCountedPieces(50, "x".repeat(100_000)).pieces, async () => {
      await failAfter().next();
      return "";
    }),
  ],
])(
  "a stream that fails %s answers its own error, since nothing was sent yet",
  async (_case, endpoint) => {
    const answer = await whenRequested(endpoint);

    expect(answer.statusCode).toBe(503);
    expect(JSON.parse(answer.body ?? "")).toMatchObject({
      error: { code: "UNAVAILABLE", retryable: true },
    });
  },
);

test("a Lambda refuses a form above its limit with the way to upload the file", async () => {
  const formOfBytes = (count: number) =>
    encodeForm([{ name: "file", fileName: "l.csv", content: Buffer.alloc(count, "x") }]);
  const { contentType, bytes } = await formOfBytes(4_499_000);
  const tooLarge = await formOfBytes(RESPONSE_BYTES_MAX);

  expect(await whenRequested(fakeFormEndpoint, contentType, bytes)).toMatchObject({
    statusCode: 202,
  });
  const refused = await whenRequested(fakeFormEndpoint, tooLarge.contentType, tooLarge.bytes);

  expect(refused.statusCode).toBe(413);
  expect(JSON.parse(refused.body ?? "")).toMatchObject({
    error: {
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringMatching(/4500000 bytes.*get_upload_url.*PUT.*process/),
    },
  });
});

const ROWS = 5_200;

/** 5 MB of CSV, in two parts. */
const givenLongCsv = async () => {
  const ctx = await given();
  const result = { ...(await verifyEmail(ctx.world, "ann@x.com")), reason: "x".repeat(1_000) };
  const rows = createRows(result, ROWS);
  await givenJobOf(ctx, [rows.slice(0, 3_000), rows.slice(3_000)]);
  const exportRows = { inRequest: 5_000, part: 2_000 };
  return { ...ctx, world: { ...ctx.world, settings: { ...ctx.world.settings, exportRows } } };
};

test("a CSV too long for a Lambda answers 409 until a worker has written it, and then 303", async () => {
  const ctx = await givenLongCsv();
  const request = () => {
    const url = "/v1/jobs/job_1/download";
    const headers = [["x-api-key", ctx.liveKey]] as const;
    const event = toEvent({ method: "GET", url, headers }, [downloadJob]);
    return lambda(downloadJob, ctx.world)(event, createContext());
  };

  const pending = await request();
  expect(pending.statusCode).toBe(409);
  expect(JSON.parse(pending.body ?? "").error).toMatchObject({
    code: "NOT_READY",
    retryable: true,
  });
  expect(pending.headers).toMatchObject({
    "retry-after": "2",
    "content-type": "application/json; charset=utf-8",
    "x-request-id": expect.any(String),
  });
  expect(pending.headers).not.toHaveProperty("content-disposition");
  await whenWorked(ctx);

  const { statusCode, headers } = await request();
  expect(statusCode).toBe(303);
  const [, key = ""] = /(exports\/[^?]+)\?/.exec(String(headers?.["location"])) ?? [];
  const object = await ctx.blobs.get(key);
  const text = Buffer.concat(await Array.fromAsync(object?.content ?? [])).toString();
  expect(getRecords(text)).toHaveLength(ROWS + 1);
});
