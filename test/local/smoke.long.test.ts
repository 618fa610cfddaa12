import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { serveZone } from "../servers/dns-server.ts";
import { serveFile, spawnNode } from "../servers/running.ts";

// `npx node scripts/smoke.ts URL` against a server of one machine. A stage on AWS gets the same requests.

/** A name server for every name of the internet that a live key asks about. */
const dns = await serveZone({ com: { NS: ["ns.com"] }, "example.com": { MX: ["0 ."] } });
afterAll(dns.close);
const { server } = serveFile(async () => ({ DNS_SERVERS: dns.address }));

const smoke = async (url: string, key: string) => {
  const child = spawnNode("scripts/smoke.ts", [url], { MAILPROOF_KEY: key });
  const [out, err] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { lines: `${out}${err}`.trimEnd().split("\n"), code: child.exitCode };
};

test.each(["test_key", "live_key"] as const)(
  "the smoke test with a %s prints the result of each step",
  async (key) => {
    const { ready } = await server;

    const { lines, code } = await smoke(ready.base_url, ready[key]);

    expect(lines.slice(0, -1).map((line) => line.slice(0, 2))).toEqual(Array(6).fill("✓ "));
    expect(lines.at(-1)).toBe(`${ready.base_url} works.`);
    expect(code).toBe(0);
  },
);

test("the smoke test ends at an unknown key with the service's own message", async () => {
  const { ready } = await server;

  const { lines, code } = await smoke(ready.base_url, "mp_test_unknown");

  expect(lines.at(-1)).toContain(
    "✗ the key is accepted: GET /v1/account is 401: Send a valid API key in X-Api-Key",
  );
  expect(code).toBe(1);
});

test("the smoke test hides the key when a failure quotes the request", async () => {
  const proxy = createServer((incoming, outgoing) => {
    outgoing.writeHead(502).end(`Bad gateway: ${JSON.stringify(incoming.headers)}`);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void proxy.close());
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;

  const { lines, code } = await smoke(`http://127.0.0.1:${port}`, "mp_test_secret");

  expect(lines.join("\n")).toContain("(the key)");
  expect(lines.join("\n")).not.toContain("mp_test_secret");
  expect(code).toBe(1);
});

test.each([
  [["http://127.0.0.1:1", "mp_test_x"], "✗ the service answers: fetch failed", 1],
  [["nowhere", "mp_test_x"], "Usage: npx node scripts/smoke.ts URL", 2],
  [["http://127.0.0.1:1", "secret"], "Usage: npx node scripts/smoke.ts URL", 2],
] as const)("the smoke test of %j prints %s", async ([url, key], words, code) => {
  const smoked = await smoke(url, key);

  expect(smoked.lines.at(-1)).toContain(words);
  expect(smoked.code).toBe(code);
});
