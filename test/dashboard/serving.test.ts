import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { openDashboard } from "@mailproof/local/server/dashboard";
import { loadDashboard } from "@mailproof/local/server/dashboard-build";
import { createApiServer } from "@mailproof/local/server/server";
import { PLAIN_SITE, type Site } from "@mailproof/local/server/site";
import { expect, onTestFinished, test } from "vitest";
import { given } from "../app/given.ts";

type Load = Parameters<typeof openDashboard>[2];

const whenServed = async (site: Partial<Site> = {}, load?: Load) => {
  const { world } = await given();
  const at = { ...PLAIN_SITE, ...site };
  const dashboard = openDashboard(world, at, load);
  const options = { site: at, dashboard };
  const server = createApiServer(world, () => undefined, undefined, undefined, options);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    dashboard.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const get = async (path: string, headers: OutgoingHttpHeaders = {}, method = "GET") => {
    const sent = request({ port, method, path, headers }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const bytes = await buffer(response);
    return {
      status: response.statusCode,
      headers: response.headers,
      bytes,
      text: bytes.toString(),
    };
  };
  return { get, server };
};

const findScript = (html: string): string => /src="([^"]+)"/.exec(html)?.[1] ?? "";

test("the dashboard's page sets a strict policy, forbids caching and reveals nothing to other sites", async () => {
  const { get } = await whenServed();

  const { status, headers, text } = await get("/app/");

  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("text/html; charset=utf-8");
  expect(headers["content-security-policy"]).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(headers["cache-control"]).toBe("no-cache");
  expect(headers["x-content-type-options"]).toBe("nosniff");
  expect(headers["referrer-policy"]).toBe("no-referrer");
  expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
  expect(text).toContain('<div id="app">');
});

test("every path below /app/ without a file serves the page, so a deep link survives a reload", async () => {
  const { get } = await whenServed();
  const page = await get("/app/");

  for (const path of ["/app/verify", "/app/lists/job_1?sort=score", "/app/settings/api-keys"])
    expect(await get(path)).toMatchObject({ status: 200, text: page.text });
});

test("the server names an asset by its content, allows caching for a year and stores it compressed", async () => {
  const { get } = await whenServed();
  const path = findScript((await get("/app/")).text);
  expect(path).toMatch(/^\/app\/assets\/[\w-]+\.js$/);

  const plain = await get(path);
  const br = await get(path, { "accept-encoding": "gzip, br" });
  const gzip = await get(path, { "accept-encoding": "gzip" });

  expect(plain.headers).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
    vary: "accept-encoding",
  });
  expect([br, gzip].map(({ headers }) => headers["content-encoding"])).toEqual(["br", "gzip"]);
  expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
  expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
  expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
});

test("an asset that this build lacks answers 404 instead of the page", async () => {
  const { get } = await whenServed();

  const { status, text } = await get("/app/assets/index-00000000.js");

  expect(status).toBe(404);
  expect(JSON.parse(text)).toMatchObject({ error: { code: "NOT_FOUND" } });
});

test("the server answers 304 to a current browser, headers alone to HEAD, and refuses POST", async () => {
  const { get } = await whenServed();
  const script = findScript((await get("/app/")).text);

  for (const path of ["/app/", script]) {
    const { headers, bytes } = await get(path);
    const again = await get(path, { "if-none-match": headers.etag });
    expect(again).toMatchObject({ status: 304, text: "" });
    expect(again.headers["cache-control"]).toBe(headers["cache-control"]);
    const head = await get(path, {}, "HEAD");
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers["content-length"]).toBe(String(bytes.length));
  }
  const post = await get("/app/", {}, "POST");
  expect(post).toMatchObject({ status: 405, headers: { allow: "GET, HEAD" } });
});

test("the root redirects a browser to the dashboard and shows its links to a program", async () => {
  const { get } = await whenServed();

  const browser = await get("/", { accept: "text/html,application/xhtml+xml" });
  expect(browser).toMatchObject({ status: 302, headers: { location: "/app/", vary: "accept" } });
  expect(JSON.parse((await get("/")).text)).toMatchObject({ service: "mailproof" });
  expect(await get("/app")).toMatchObject({ status: 308, headers: { location: "/app/" } });
});

test.each([
  ["a base path", { basePath: "/mail/proof" }, "/mail/proof"],
  ["a proxy that removes the path", { publicUrl: "https://example.com/mail" }, ""],
])(
  "the dashboard's page and the root behind %s use the path in their links",
  async (_, site, sent) => {
    const prefix = "publicUrl" in site ? "/mail" : "/mail/proof";
    const { get } = await whenServed(site);

    const page = await get(`${sent}/app/lists`);

    expect(findScript(page.text)).toMatch(new RegExp(`^${prefix}/app/assets/`));
    expect(page.text).not.toContain('"/app/');
    const root = await get(`${sent}/`, { accept: "text/html" });
    expect(root.headers.location).toBe(`${prefix}/app/`);
  },
);

test("no asset contains its own path, so the same files serve below every path", async () => {
  const files = await loadDashboard(new AbortController().signal);

  const placed = Object.entries(files).filter(
    ([path, { text }]) => path !== "index.html" && text.includes("/app/assets"),
  );

  expect(placed.map(([path]) => path)).toEqual([]);
});

test("a request waits for the build, and the next request after a failed build builds again", async () => {
  const files = await loadDashboard(new AbortController().signal);
  const builds = [Promise.withResolvers<typeof files>(), Promise.withResolvers<typeof files>()];
  let begun = 0;
  const { get, server } = await whenServed(
    {},
    () => builds[begun++]?.promise ?? Promise.reject(new Error("a third")),
  );

  const arrived = once(server, "request");
  const waiting = get("/app/");
  // One that came after the failure would begin the next build.
  await arrived;
  expect((await get("/health")).status).toBe(200);
  builds[0]?.reject(new Error("no room on the disk"));
  const failed = await waiting;
  builds[1]?.resolve(files);
  const built = await get("/app/");

  expect(failed.status).toBe(503);
  expect(JSON.parse(failed.text)).toMatchObject({
    error: {
      code: "UNAVAILABLE",
      message: "The dashboard could not be built. Nothing was charged.",
    },
  });
  expect(built.status).toBe(200);
  expect(begun).toBe(2);
});
