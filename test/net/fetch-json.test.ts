import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fetchJson } from "@mailproof/net/fetch-json";
import { expect, onTestFinished, test } from "vitest";

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

test("a document is read, and one that is not there is none", async () => {
  expect(await fetchJson(await answering(200, {}, '{"a":1}'))).toEqual({ a: 1 });
  expect(await fetchJson(await answering(404, {}, "no"))).toBeUndefined();
});

test("what the operator named may not point elsewhere", async () => {
  const url = await answering(302, { location: "/elsewhere" }, "");

  await expect(fetchJson(url)).rejects.toThrow("fetch failed");
});

test.each<[string, number, string, string]>([
  ["a failure", 500, "", "answered 500"],
  ["no JSON", 200, "<html>", "JSON"],
  ["too much", 200, `"${"x".repeat(256_000)}"`, "is over 256000 bytes"],
])("%s is no document", async (_what, status, body, message) => {
  await expect(fetchJson(await answering(status, {}, body))).rejects.toThrow(message);
});
