import { createHash } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { endpoints, programEndpoints } from "@mailproof/api/endpoints";
import { createClientFiles } from "@mailproof/api/http/client-files";
import { documentsFrom, HERE, HERE_PATH } from "@mailproof/api/http/documents";
import { packClients } from "@mailproof/docs-site/clients/archives";
import { clientsAt, GO_MODULE, GO_VERSION } from "@mailproof/docs-site/clients/programs";
import { texts } from "@mailproof/docs-site/texts";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { expect, test } from "vitest";
import { toBytes, toEvent } from "../../infra/gateway-event.ts";
import { given } from "../app/given.ts";
import { createContext } from "../aws/events.ts";
import { whenListening } from "../servers/listening.ts";

const WHOLE_PAGE = ["/docs", "/docs/style.css", "/docs/script.js"];
const TOPIC = [
  "/docs/search.json",
  "/llms.txt",
  "/docs.md",
  "/docs/verify-email",
  "/docs/verify-email.md",
];
const PATHS = ["/openapi.json", ...WHOLE_PAGE, ...TOPIC];

const got = async (port: number, path: string, headers = {}) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

test.each(PATHS)("both runtimes serve %s identically without a key", async (path) => {
  const { port } = await whenListening(...endpoints);
  const { world } = await given();
  const event = toEvent({ method: "GET", url: path });

  const here = await got(port, path);
  const there = await createFallbackHandler(world)(event, createContext());

  const { domainName } = event.requestContext;
  expect(here.status).toBe(200);
  expect(there.statusCode).toBe(200);
  expect(
    toBytes(there).toString().replaceAll(`https://${domainName}`, `http://127.0.0.1:${port}`),
  ).toBe(here.text);
  expect(there.headers?.["content-type"]).toBe(here.headers.get("content-type"));
});

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

/** As it stands on the wire: fetch would ask for compression by itself, and undo it. */
const raw = async (port: number, method: string, path: string, headers: OutgoingHttpHeaders) => {
  const clientRequest = request({ port, method, path, headers }).end();
  const [answer] = (await once(clientRequest, "response")) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) };
};

test.each([
  ["/openapi.json", "gzip"],
  ["/docs", "br"],
  ["/docs/verify-email.md", "br"],
])("both runtimes send %s compressed by %s, and HEAD states its length", async (path, encoding) => {
  const { port } = await whenListening(...endpoints);
  const { world } = await given();
  const requestHeaders = { "accept-encoding": encoding };
  const plain = await raw(port, "GET", path, {});

  const here = await raw(port, "GET", path, requestHeaders);
  const head = await raw(port, "HEAD", path, requestHeaders);
  const again = await raw(port, "GET", path, {
    ...requestHeaders,
    "if-none-match": here.headers.etag,
  });
  const event = (method: string) =>
    createFallbackHandler(world)(
      toEvent({ method, url: path, headers: Object.entries(requestHeaders) }),
      createContext(),
    );
  const [there, headThere] = [await event("GET"), await event("HEAD")];

  expect(DECODERS[encoding]?.(here.bytes)).toEqual(plain.bytes);
  expect(here.bytes.length).toBeLessThan(plain.bytes.length / 2);
  expect(here.headers).toMatchObject({
    "content-encoding": encoding,
    vary: expect.stringContaining("accept-encoding"),
  });
  expect(Number(here.headers["content-length"])).toBe(here.bytes.length);
  expect(head).toMatchObject({ status: 200, bytes: Buffer.alloc(0) });
  expect({ ...head.headers, date: "" }).toEqual({ ...here.headers, date: "" });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  expect(plain.headers.etag).not.toBe(here.headers.etag);

  expect(there.headers).toMatchObject({
    "content-encoding": encoding,
    vary: expect.stringContaining("accept-encoding"),
  });
  expect(DECODERS[encoding]?.(toBytes(there)).length).toBeGreaterThan(toBytes(there).length);
  expect(headThere).toMatchObject({ statusCode: 200, body: "" });
  expect(headThere.headers).toMatchObject({
    etag: there.headers?.["etag"],
    "content-length": toBytes(there).length,
  });
});

test("a path below the docs page, or another method, answers 404", async () => {
  const { port } = await whenListening(...endpoints);

  expect((await got(port, "/docs/other")).status).toBe(404);
  expect((await got(port, "/constructor")).status).toBe(404);
  const posted = await fetch(`http://127.0.0.1:${port}/docs`, { method: "POST" });
  expect(posted.status).toBe(404);
});

test("a browser receives a page that links to the manual for an unknown address of the manual", async () => {
  const { port } = await whenListening(...endpoints);
  const { world } = await given();
  const headers = { accept: "text/html" };

  const here = await got(port, "/docs/nope", headers);
  const there = await createFallbackHandler(world)(
    toEvent({ method: "GET", url: "/docs/nope", headers: Object.entries(headers) }),
    createContext(),
  );

  expect([here.status, there.statusCode]).toEqual([404, 404]);
  for (const text of [here.text, toBytes(there).toString()]) {
    expect(text).toContain("<h1>Page not found</h1>");
    expect(text).toContain("/docs/verify-email");
  }
});

test("the docs page loads nothing from another origin and contains no inline code or style", async () => {
  const { port } = await whenListening(...endpoints);

  const { headers, text } = await got(port, "/docs");

  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; require-trusted-types-for 'script'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  const loaded = [
    ...text.matchAll(
      /(?:<script[^>]*src|<link rel="(?!alternate)[^>]*href|<img[^>]*src)="([^"]*)"/g,
    ),
  ];
  expect(
    loaded.map(([, to = ""]) => to).filter((to) => !/^(?:\/docs\/|data:image)/.test(to)),
  ).toEqual([]);
  expect(text).not.toMatch(/<script(?![^>]*src)|<style| style="| on[a-z]+="/);
});

test("the docs page, its style and its script stay below 532 KB together and below 74 KB on the wire", async () => {
  const { port } = await whenListening(...endpoints);
  const all = await Promise.all(WHOLE_PAGE.map((path) => got(port, path)));

  // One after another: of three at once the last may be sent uncompressed.
  const sent = await Array.fromAsync(WHOLE_PAGE, (path) =>
    raw(port, "GET", path, { "accept-encoding": "br" }),
  );

  expect(all.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThan(532_000);
  expect(sent.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(74_000);
});

test("the docs page contains one section for every operation for programs", async () => {
  const { port } = await whenListening(...endpoints);
  const { text } = await got(port, "/docs");
  const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);

  expect(programEndpoints.map(({ id }) => id).filter((id) => !ids.includes(id))).toEqual([]);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test("the server writes a document once, at its first request, and no other with it", () => {
  const written: string[] = [];
  const write = (path: string) => () => {
    written.push(path);
    return `${path} of ${HERE}`;
  };
  const find = documentsFrom(() => ({
    "/openapi.json": write("/openapi.json"),
    "/docs": write("/docs"),
  }));
  const ask = (baseUrl: string) =>
    find({ method: "GET", rawPath: "/openapi.json", headers: {}, baseUrl }, null);

  expect([ask("http://a.test")?.body, ask("http://b.test")?.body]).toEqual([
    "/openapi.json of http://a.test",
    "/openapi.json of http://b.test",
  ]);
  expect(written).toEqual(["/openapi.json"]);
});

const all = texts();
const manual = Object.keys(all).filter(
  (path) => path.startsWith("/docs/") && !/\.(?:css|js|json)$/.test(path),
);
const pages = manual.filter((path) => !path.endsWith(".md"));

test("the server offers a page, a Markdown twin and a line in llms.txt for each operation and guide", () => {
  const names = programEndpoints.map(({ id }) =>
    id.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`),
  );

  expect(pages).toEqual(expect.arrayContaining(names.map((name) => `/docs/${name}`)));
  expect(pages).toContain("/docs/quick-start");
  for (const path of pages) {
    expect(manual).toContain(`${path}.md`);
    expect(all["/llms.txt"]).toContain(`](${HERE}${path}.md): `);
  }
});

/** Where a link leads: a document, and an anchor in it. */
const findBroken = (path: string, link: string): string[] => {
  const [to = "", anchor] = link.replace(HERE_PATH, "").replace(HERE, "").split("#");
  const target = to === "" ? path : to;
  const text = all[target];
  const isThere = text !== undefined || ["/mcp", "/health", "/app/", "/status"].includes(target);
  const hasAnchor = anchor === undefined || anchor === "top" || text?.includes(` id="${anchor}"`);
  return isThere && hasAnchor ? [] : [`${path}: ${link}`];
};

test("every link of every page and of its Markdown reaches a target", () => {
  const ofPages = [...pages, "/docs"].flatMap((path) =>
    [...(all[path] ?? "").matchAll(/ href="([^"]+)"/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !/^(?:data:|https:\/\/(?!here))/.test(link))
      .flatMap((link) => findBroken(path, link)),
  );
  const markdown = [...manual.filter((path) => path.endsWith(".md")), "/docs.md", "/llms.txt"];
  const ofMarkdown = markdown.flatMap((path) =>
    [...(all[path] ?? "").matchAll(/\]\((https:\/\/here[^)\s]*)\)/g)].flatMap(([, link = ""]) =>
      findBroken(path, link),
    ),
  );

  expect(ofPages).toEqual([]);
  expect(ofMarkdown).toEqual([]);
});

test("the headings of every page skip no level", () => {
  const listGaps = (path: string) => {
    const [, main = ""] = (all[path] ?? "").split("<main");
    const levels = [...main.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
    return levels.flatMap((level, at) => {
      const before = levels[at - 1] ?? 0;
      return level > before + 1 ? [`${path}: h${level} after h${before}`] : [];
    });
  };
  expect(pages.flatMap(listGaps)).toEqual([]);
});

test("every search result links to its place in the long page and in its own page", () => {
  const found: any[] = JSON.parse(all["/docs/search.json"] ?? "[]");

  expect(found.length).toBeGreaterThan(programEndpoints.length + 50);
  expect(
    found.flatMap(({ id, page }) => [
      ...findBroken("/docs", `#${id}`),
      ...findBroken("/docs", `/docs/${page}`),
    ]),
  ).toEqual([]);
  expect(
    found.filter(({ text }) => /<\/?(?:p|div|code|ul|li|td|span|a)\b|&lt;/.test(text)),
  ).toEqual([]);
  expect(gzipSync(all["/docs/search.json"] ?? "").length).toBeLessThan(44_000);
});

test("the Markdown of a page contains no HTML and the page's code", () => {
  const codeOf = (text: string) => text.split("```").filter((_, at) => at % 2 === 1);
  for (const path of pages) {
    const markdown = all[`${path}.md`] ?? "";
    const prose = markdown
      .split("```")
      .filter((_, at) => at % 2 === 0)
      .join("")
      .replaceAll(/`[^`]*`/g, "");
    expect(prose).not.toMatch(/<\/?(?:p|div|code|ul|li|td|span|a)\b|&lt;|&amp;|&quot;/);
    expect(markdown).toMatch(/^# \S/);
    const samples = [...(all[path] ?? "").matchAll(/<pre[^>]*>/g)].length;
    expect(codeOf(markdown)).toHaveLength(samples);
  }
});

test("the server sends Markdown to a client that accepts it, and the page to a browser", async () => {
  const { port } = await whenListening(...endpoints);

  const agent = await got(port, "/docs/quick-start", { accept: "text/markdown, */*" });
  const browser = await got(port, "/docs/quick-start", { accept: "text/html,*/*;q=0.8" });
  const plain = await got(port, "/docs/quick-start", { accept: "*/*" });

  expect(agent.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(agent.headers.get("vary")).toContain("accept");
  expect(agent.text).toMatch(/^# Quick start\n/);
  expect(agent.text).toContain(`http://127.0.0.1:${port}/docs/`);
  expect(browser.text).toMatch(/^<!doctype html>/);
  expect(browser.headers.get("vary")).toContain("accept");
  expect(plain.text).toBe(browser.text);
});

test("the page of a topic stays below 70 KB, and that of all schemas below 86 KB", () => {
  const sizes = pages.map((path) => [path, Buffer.byteLength(all[path] ?? "")] as const);

  expect(
    sizes.filter(([path, bytes]) => bytes > (path === "/docs/schemas" ? 86_000 : 70_000)),
  ).toEqual([]);
});

const open = (archives: Readonly<Record<string, string>>) => {
  const answer = createClientFiles(async () => archives);
  return (rawPath: string, method = "GET") => answer({ method, rawPath });
};

test("the server sends a client's file with its type", async () => {
  const bytes = Buffer.from([0, 255, 10, 13]);
  const get = open({ "a.tgz": bytes.toString("base64"), "go/m/@v/list": "djEK" });

  expect(await get("/docs/clients/a.tgz")).toMatchObject({
    statusCode: 200,
    headers: { "content-type": "application/gzip", "x-content-type-options": "nosniff" },
    body: bytes,
  });
  expect(await get("/docs/clients/a.tgz", "HEAD")).toMatchObject({ statusCode: 200 });
  expect((await get("/docs/clients/go/m/@v/list"))?.headers["content-type"]).toMatch(
    /^text\/plain/,
  );
});

test("the server opens no client's file for the manual's page or a POST", () => {
  const get = open({});

  for (const path of ["/docs", "/docs/clients", "/docs/clients/", "/docs/clients.md"])
    expect(get(path)).toBeUndefined();
  expect(get("/docs/clients/a.tgz", "POST")).toBeUndefined();
});

/** The files that the install lines of the page fetch; go asks for them by its proxy protocol. */
const listPrintedPaths = (): readonly string[] => {
  const lines = clientsAt("http://here").map(({ install }) => install);
  const urls = lines.flatMap((line) => line.match(/(?<=http:\/\/here)\S+\.(?:tgz|whl)/g) ?? []);
  const module = `/docs/clients/go/${GO_MODULE}/@v/${GO_VERSION}`;
  return [...urls, ...["info", "mod", "zip"].map((ending) => `${module}.${ending}`)];
};

/** The same path from the server on one machine and from the Lambda of the documents. */
const getBoth = async (path: string) => {
  const { port } = await whenListening(...endpoints);
  const { world } = await given();
  const here = await fetch(`http://127.0.0.1:${port}${path}`);
  const result = await createFallbackHandler(world)(
    toEvent({ method: "GET", url: path }),
    createContext(),
  );
  return {
    statuses: [here.status, result.statusCode],
    here: Buffer.from(await here.arrayBuffer()),
    there: toBytes(result),
  };
};

test.each(listPrintedPaths())("both runtimes serve %s, which the page prints", async (path) => {
  const { statuses, here, there } = await getBoth(path);

  expect(statuses).toEqual([200, 200]);
  expect(here.length).toBeGreaterThan(10);
  expect(there.equals(here)).toBe(true);
});

test.each(["none.whl", "constructor", "__proto__"])(
  "both runtimes answer 404 for %s",
  async (name) => {
    const { statuses, here, there } = await getBoth(`/docs/clients/${name}`);

    expect(statuses).toEqual([404, 404]);
    const error = { code: "NOT_FOUND", message: expect.stringContaining("lists the clients") };
    expect(JSON.parse(here.toString())).toMatchObject({ error });
    expect(JSON.parse(there.toString())).toMatchObject({ error });
  },
);

test("packing the clients writes equal bytes each time, so their checksums stay valid", async () => {
  const hash = async () =>
    Object.values(await packClients()).map((bytes) =>
      createHash("sha256").update(bytes).digest("hex"),
    );

  expect(await hash()).toEqual(await hash());
});
