import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { chooseEncoding, createEncoder, type Encoders } from "@mailproof/net/content-encoding";
import { fetchJson } from "@mailproof/net/fetch-json";
import { expect, onTestFinished, test } from "vitest";

test.each([
  [undefined, "identity"],
  ["", "identity"],
  ["gzip", "gzip"],
  ["gzip, deflate, br", "br"],
  ["GZIP", "gzip"],
  ["br;q=0.5, gzip;q=1.0", "gzip"],
  ["br;q=0, gzip;q=0.001", "gzip"],
  ["gzip;q=0", "identity"],
  ["*", "br"],
  ["*;q=0", "identity"],
  ["br;q=0, *", "gzip"],
  ["identity, gzip;q=0.5", "identity"],
  ["identity;q=0, gzip", "gzip"],
  ["deflate, zstd", "identity"],
  ["gzip;q=2", "identity"],
  ["gzip;q=x, br ; q=0.2", "br"],
])("the encoder answers Accept-Encoding %j with %s", (accepted, encoding) => {
  expect(chooseEncoding(accepted)).toBe(encoding);
});

const BODY = "a text that repeats itself. ".repeat(200);
const page = (body = BODY) => ({ statusCode: 200, headers: { "cache-control": "no-cache" }, body });

test("each encoding has its own tag, and contains the same text", async () => {
  const encoded = createEncoder();
  const requestWith = (acceptEncoding?: string) =>
    encoded(page(), { "accept-encoding": acceptEncoding });

  const [plain, gzip, br] = [
    await requestWith(),
    await requestWith("gzip"),
    await requestWith("br"),
  ];

  expect(plain.body.toString()).toBe(BODY);
  expect(gunzipSync(gzip.body).toString()).toBe(BODY);
  expect(brotliDecompressSync(br.body).toString()).toBe(BODY);
  expect(plain.headers).not.toHaveProperty("content-encoding");
  expect(gzip.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  expect(br.headers).toMatchObject({ "content-encoding": "br", vary: "accept-encoding" });
  expect(new Set([plain, gzip, br].map(({ headers }) => headers.etag)).size).toBe(3);
});

test("the encoder answers 304 without the text when the client sends any of its tags", async () => {
  const encoded = createEncoder();
  const requestWith = (ifNoneMatch?: string, body?: string) =>
    encoded(page(body), { "accept-encoding": "gzip", "if-none-match": ifNoneMatch });
  const { etag } = (await requestWith()).headers;

  for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, "*"])
    expect(await requestWith(tags)).toMatchObject({ statusCode: 304, body: Buffer.alloc(0) });
  expect((await requestWith('"other"')).statusCode).toBe(200);
  expect((await requestWith(etag, `${BODY}!`)).statusCode).toBe(200);
});

const counted = () => {
  const texts: string[] = [];
  const note = async (text: Buffer) => {
    texts.push(text.toString());
    return text;
  };
  const encoders: Encoders = { br: note, gzip: note, identity: note };
  return { texts, encoded: createEncoder(encoders) };
};
const GZIP = { "accept-encoding": "gzip" };

test("the encoder compresses a text once, even for concurrent requests", async () => {
  const { texts, encoded } = counted();

  const text = page();
  await Promise.all([encoded(text, GZIP), encoded(text, GZIP)]);
  await encoded(text, GZIP);
  await encoded(text, { "accept-encoding": "br" });

  expect(texts).toEqual([BODY, BODY]);
});

test("the encoder compresses each of many alternating texts once", async () => {
  const { texts, encoded } = counted();
  const pages = Array.from({ length: 100 }, (_, n) => page(`${BODY}${n}`));

  for (const text of [...pages, ...pages]) await encoded(text, GZIP);

  expect(texts).toHaveLength(100);
});

test("the encoder keeps the other names in Vary", async () => {
  const { headers } = await createEncoder()({ ...page(), headers: { vary: "accept" } }, GZIP);

  expect(headers.vary).toBe("accept, accept-encoding");
});

test("the encoder sends a short text uncompressed", async () => {
  const { headers, body } = await createEncoder()(page("short"), GZIP);

  expect(body.toString()).toBe("short");
  expect(headers).not.toHaveProperty("content-encoding");
});

/** Answers `/` with this, and anything else with {"there":true}. */
const answering = async (status: number, headers: Record<string, string>, body: string) => {
  const one = createServer((incoming, outgoing) => {
    if (incoming.url === "/") outgoing.writeHead(status, headers).end(body);
    else outgoing.end('{"there":true}');
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    one.closeAllConnections();
    one.close();
  });
  await once(one, "listening");
  return `http://127.0.0.1:${(one.address() as AddressInfo).port}/`;
};

test("fetchJson returns a document, and undefined for a missing one", async () => {
  expect(await fetchJson(await answering(200, {}, '{"a":1}'))).toEqual({ a: 1 });
  expect(await fetchJson(await answering(404, {}, "no"))).toBeUndefined();
});

test("fetchJson refuses a redirect of the operator's URL", async () => {
  const url = await answering(302, { location: "/elsewhere" }, "");

  await expect(fetchJson(url)).rejects.toThrow("fetch failed");
});

test.each<[string, number, string, string]>([
  ["the status 500", 500, "", "answered 500"],
  ["an answer without JSON", 200, "<html>", "JSON"],
  ["an answer over the limit", 200, `"${"x".repeat(256_000)}"`, "is over 256000 bytes"],
])("fetchJson refuses %s as a document", async (_what, status, body, message) => {
  await expect(fetchJson(await answering(status, {}, body))).rejects.toThrow(message);
});
