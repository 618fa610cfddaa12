import { expect, test } from "vitest";
import { given } from "../given.ts";
import { countedPieces, pretendForm, pretendStream } from "../pretend.ts";
import { sendTo } from "../send.ts";

const send = sendTo([pretendForm, pretendStream(countedPieces(2, "a,b\r\n").pieces)]);

test("a story can send a form, and read what became of it", async () => {
  const { world, liveKey: key } = await given();
  const form = [
    { name: "email_column", content: "E-Mail" },
    { name: "file", fileName: "l.csv", content: Buffer.from("a@b.c\r\n") },
  ];

  const told = await send(world, "POST /v1/pretend/form", { key, form });

  expect(told.statusCode).toBe(202);
  expect(told.headers["retry-after"]).toBe("7");
  expect(told.data.parts).toEqual([
    { name: "email_column", fileName: null, text: "E-Mail" },
    { name: "file", fileName: "l.csv", text: "a@b.c\r\n" },
  ]);
});

test("a story can send JSON to the same route", async () => {
  const { world, liveKey: key } = await given();

  const told = await send(world, "POST /v1/pretend/form", { key, body: { action: "x" } });

  expect(told.data).toEqual({ action: "x" });
});

test("a story can read a streamed answer", async () => {
  const { world, liveKey: key } = await given();

  const told = await send(world, "GET /v1/pretend/stream", { key });

  expect(told).toMatchObject({ statusCode: 200, text: "a,b\r\na,b\r\n" });
  expect(told.headers["content-type"]).toBe("text/csv; charset=utf-8");
});
