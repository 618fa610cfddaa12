import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { json } from "node:stream/consumers";
import { FORM_BYTES_MAX } from "@mailproof/api/http/body";
import { type Endpoint, endpoint } from "@mailproof/api/http/endpoint";
import { expect, test } from "vitest";
import { fakeFormEndpoint } from "../app/fake-endpoints.ts";
import { whenListening } from "../servers/listening.ts";

const HEAD = '--b\r\nContent-Disposition: form-data; name="file"; filename="l.csv"\r\n\r\n';
const TAIL = "\r\n--b--\r\n";

/** Reads a form and keeps nothing but how long it was. */
const measuring = endpoint({
  ...fakeFormEndpoint,
  form: "streamed",
  async handle(_world, _caller, { form }) {
    let bytes = 0;
    for await (const { content } of form ?? [])
      for await (const piece of content) bytes += piece.length;
    return { status: 202, data: { bytes } };
  },
});

const whenRequesting = async (headers: OutgoingHttpHeaders, route: Endpoint = measuring) => {
  const { port, liveKey } = await whenListening(route);
  const type = "multipart/form-data; boundary=b";
  return request({
    port,
    method: "POST",
    path: "/v1/sample/form",
    headers: { "x-api-key": liveKey, "content-type": type, ...headers },
    agent: false,
  });
};

/** Sends a file of this many bytes, in pieces, and reads the answer. */
const whenSent = async (fileBytes: number, headers: OutgoingHttpHeaders = {}) => {
  const clientRequest = await whenRequesting(headers);
  const answered = once(clientRequest, "response") as Promise<[IncomingMessage]>;
  clientRequest.write(HEAD);
  const piece = Buffer.alloc(1_000_000, "x");
  for (let left = fileBytes; left > 0; left -= piece.length)
    if (!clientRequest.write(piece.subarray(0, left))) await once(clientRequest, "drain");
  clientRequest.end(TAIL);
  const [answer] = await answered;
  return { status: answer.statusCode, body: await json(answer) };
};

const ROUND = HEAD.length + TAIL.length;
const TOO_LARGE = {
  status: 413,
  body: {
    error: {
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringMatching(/get_upload_url.*PUT.*process/),
    },
  },
};

test("the server reads a form of 55 MB and refuses one more byte with the way to send it", async () => {
  expect(await whenSent(FORM_BYTES_MAX - ROUND)).toEqual({
    status: 202,
    body: { success: true, data: { bytes: FORM_BYTES_MAX - ROUND } },
  });
  expect(await whenSent(FORM_BYTES_MAX - ROUND + 1)).toMatchObject(TOO_LARGE);
});

test("the server refuses a form by its content-length before it reads the form", async () => {
  const clientRequest = await whenRequesting({ "content-length": FORM_BYTES_MAX + 1 });
  clientRequest.on("error", () => {});
  clientRequest.write(HEAD);
  const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];

  expect({ status: answer.statusCode, body: await json(answer) }).toMatchObject(TOO_LARGE);
  expect(answer.headers.connection).toBe("close");
});

test("a client that hangs up inside a form causes no failure", async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const reading = endpoint({
    ...fakeFormEndpoint,
    form: "streamed",
    async handle(_world, _caller, { form }) {
      try {
        for await (const { content } of form ?? [])
          for await (const _piece of content) begun.resolve();
      } catch (error) {
        ended.resolve(error);
      }
      return { status: 202, data: {} };
    },
  });
  const clientRequest = await whenRequesting({}, reading);
  clientRequest.on("error", () => {});
  clientRequest.write(HEAD + "x".repeat(100_000));
  await begun.promise;
  clientRequest.destroy();

  // A status below 500 is not logged.
  expect(await ended.promise).toMatchObject({ code: "INVALID_REQUEST" });
});
