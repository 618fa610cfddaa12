import { expect, test } from "vitest";
import {
  createCountedPieces,
  createFakeStreamEndpoint,
  fakeFormEndpoint,
} from "../fake-endpoints.ts";
import { given } from "../given.ts";
import { sendTo } from "../send.ts";

const send = sendTo([
  fakeFormEndpoint,
  createFakeStreamEndpoint(createCountedPieces(2, "a,b\r\n").pieces),
]);

test("a story can send a form, and read what became of it", async () => {
  const { world, liveKey: key } = await given();
  const form = [
    { name: "email_column", content: "E-Mail" },
    { name: "file", fileName: "l.csv", content: Buffer.from("a@b.c\r\n") },
  ];

  const response = await send(world, "POST /v1/sample/form", { key, form });

  expect(response.statusCode).toBe(202);
  expect(response.headers["retry-after"]).toBe("7");
  expect(response.data.parts).toEqual([
    { name: "email_column", fileName: null, text: "E-Mail" },
    { name: "file", fileName: "l.csv", text: "a@b.c\r\n" },
  ]);
});

test("a story can send JSON to the same route", async () => {
  const { world, liveKey: key } = await given();

  const response = await send(world, "POST /v1/sample/form", { key, body: { action: "x" } });

  expect(response.data).toEqual({ action: "x" });
});

test("a story can read a streamed answer", async () => {
  const { world, liveKey: key } = await given();

  const response = await send(world, "GET /v1/sample/stream", { key });

  expect(response).toMatchObject({ statusCode: 200, text: "a,b\r\na,b\r\n" });
  expect(response.headers["content-type"]).toBe("text/csv; charset=utf-8");
});
