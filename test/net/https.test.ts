import { once } from "node:events";
import { type IncomingHttpHeaders, IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { createDocumentFetcher } from "@mailproof/core/deliverability/document-fetcher";
import { findBimiHints } from "@mailproof/mail/hints/bimi";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createZoneDns } from "../app/zone.ts";
import { eventually } from "../runner/eventually.ts";
import {
  createClient,
  listenPlain,
  listenSecure,
  NAME,
  OPEN,
  posted,
  trustSelfSigned,
} from "../servers/https-servers.ts";
import { closedPort } from "../servers/mail-servers.ts";

beforeAll(trustSelfSigned);

const ZONE = createZoneDns({ [NAME]: { A: [OPEN] }, "other.test": { A: [OPEN] } });

const getUrl = (port: number, path = "/") => `https://${NAME}:${port}${path}`;

test("the server receives the request byte by byte, with its name and headers", async () => {
  const received: {
    url: string | undefined;
    method: string | undefined;
    headers: IncomingHttpHeaders;
    body: string;
  }[] = [];
  const { port } = await listenSecure(async (request, answer) => {
    const { url, method, headers } = request;
    received.push({ url, method, headers, body: await text(request) });
    answer.writeHead(202, { "content-type": "text/plain", "retry-after": "7" }).end("thanks");
  });

  const outcome = await createClient(ZONE, port).call({
    method: "POST",
    url: getUrl(port, "/in?a=1#part"),
    headers: { "content-type": "application/json", "webhook-id": "evt_1" },
    body: '{"name":"Zoë"}',
  });

  expect(outcome).toEqual({
    kind: "answer",
    status: 202,
    contentType: "text/plain",
    retryAfter: "7",
    body: "thanks",
    isComplete: true,
  });
  expect(received).toMatchObject([
    {
      url: "/in?a=1",
      method: "POST",
      body: '{"name":"Zoë"}',
      headers: {
        host: `${NAME}:${port}`,
        "webhook-id": "evt_1",
        "content-length": "15",
        "accept-encoding": "identity",
        connection: "close",
      },
    },
  ]);
});

test("the client refuses a certificate for another name", async () => {
  const { port } = await listenSecure((_, answer) => void answer.end());

  expect(await createClient(ZONE, port).call(posted(`https://other.test:${port}/`))).toEqual({
    kind: "failed",
    why: "tls_failed",
  });
});

test("the client requires a certificate even if the environment turns that off", async () => {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { port } = await listenSecure((_, answer) => void answer.end());

  expect(await createClient(ZONE, port).call(posted(`https://other.test:${port}/`))).toMatchObject({
    why: "tls_failed",
  });
});

test("the client ignores a proxy of the environment", async () => {
  const proxy = await listenPlain();
  for (const name of [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "NODE_USE_ENV_PROXY",
  ])
    vi.stubEnv(name, name === "NODE_USE_ENV_PROXY" ? "1" : `http://127.0.0.1:${proxy.port}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { port } = await listenSecure((_, answer) => void answer.end());

  expect(await createClient(ZONE, port).call(posted(getUrl(port)))).toMatchObject({ status: 200 });
  expect(proxy.connections).toEqual([]);
});

test("the client reads 64 KB of a long answer, and keeps its status", async () => {
  const { port } = await listenSecure(async (_, answer) => {
    const piece = "x".repeat(65_536);
    while (!answer.destroyed) {
      if (!answer.write(piece))
        await Promise.race([once(answer, "drain"), once(answer, "close")]).catch(() => undefined);
    }
  });

  const outcome = await createClient(ZONE, port).call(posted(getUrl(port)));

  expect(outcome).toMatchObject({ kind: "answer", status: 200, isComplete: false });
  expect("body" in outcome && outcome.body.length).toBe(65_536);
});

test.each(["gzip", "br", "deflate", "zstd", "gzip, gzip"])(
  "the client does not unpack a body packed with %s",
  async (packing) => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const { port } = await listenSecure(
      (_, answer) => void answer.writeHead(200, { "content-encoding": packing }).end(bomb),
    );

    expect(await createClient(ZONE, port).call(posted(getUrl(port)))).toMatchObject({
      kind: "answer",
      status: 200,
      body: "",
      isComplete: false,
    });
  },
);

test("a server without TLS, one that hangs up and a missing one each cause a failure", async () => {
  const hangsUp = await listenSecure((request) => void request.socket.destroy());
  const plain = await listenPlain((socket) => void socket.end("220 mail.test ESMTP\r\n"));
  const closed = await closedPort();

  expect(await createClient(ZONE, hangsUp.port).call(posted(getUrl(hangsUp.port)))).toEqual({
    kind: "failed",
    why: "closed",
  });
  expect(await createClient(ZONE, plain.port).call(posted(getUrl(plain.port)))).toEqual({
    kind: "failed",
    why: "tls_failed",
  });
  expect(await createClient(ZONE, closed).call(posted(getUrl(closed)))).toEqual({
    kind: "failed",
    why: "connect_refused",
  });
});

test("the client refuses a header of two lines as our own error, and never sends it", async () => {
  const { port } = await listenSecure((_, answer) => void answer.end());
  const headers = { "webhook-id": "a\r\nx-evil: 1" };

  const sent = createClient(ZONE, port).call({ ...posted(getUrl(port)), headers });

  await expect(sent).rejects.toThrow(/header/i);
});

test("a name without an address and a name whose look-up fails cause different faults", async () => {
  const names = createZoneDns({ "none.test": { TXT: ["x"] }, "down.test": "TIMEOUT" });

  expect(await createClient(names, 443).call(posted("https://none.test/"))).toEqual({
    kind: "failed",
    why: "name_not_found",
  });
  expect(await createClient(names, 443).call(posted("https://down.test/"))).toEqual({
    kind: "failed",
    why: "dns_failed",
  });
});

test("the client tries the second address when the first refuses the connection", async () => {
  const { port, connections } = await listenSecure((_, answer) => void answer.end(), OPEN);
  const names = createZoneDns({ [NAME]: { A: ["127.0.0.9", OPEN] } });
  const client = createClient(names, port, ["127.0.0.9", OPEN]);

  expect(await client.call(posted(getUrl(port)))).toMatchObject({ status: 200 });
  expect(connections).toEqual([OPEN]);
});

const timersFaked = () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
};

test("the client gives up after 5 seconds a server that stays silent after the connection", async () => {
  timersFaked();
  const { promise: result, resolve } = Promise.withResolvers<void>();
  const { port } = await listenPlain(() => resolve());
  const outcome = createClient(ZONE, port).call(posted(getUrl(port)));
  await result;

  // The socket stands once the server has it; what it waits for now is the handshake.
  await eventually(() => expect(vi.getTimerCount()).toBe(2));
  await vi.advanceTimersByTimeAsync(5_000);

  expect(await outcome).toEqual({ kind: "failed", why: "connect_timeout" });
});

test("the client gives up after 10 seconds a server without an answer", async () => {
  timersFaked();
  const { promise: requestSeen, resolve } = Promise.withResolvers<void>();
  const { port } = await listenSecure(() => resolve());
  const outcome = createClient(ZONE, port).call(posted(getUrl(port)));
  await requestSeen;

  await vi.advanceTimersByTimeAsync(10_000);

  expect(await outcome).toEqual({ kind: "failed", why: "timeout" });
});

test("the client gives up after 10 seconds an endless answer, and keeps its status", async () => {
  timersFaked();
  const received = vi.spyOn(IncomingMessage.prototype, "on");
  onTestFinished(() => received.mockRestore());
  const { port } = await listenSecure((_, answer) => void answer.writeHead(200).write("a"));
  const outcome = createClient(ZONE, port).call(posted(getUrl(port)));
  await eventually(() => expect(received).toHaveBeenCalledWith("data", expect.anything()));

  await vi.advanceTimersByTimeAsync(10_000);

  expect(await outcome).toMatchObject({ kind: "answer", status: 200, isComplete: false });
});

/** Word for word, since no HTTP server would say it. */
const saying = (text: string) =>
  listenSecure(({ socket }) => {
    socket.write(text);
  });

test("bytes after an answer without a body change nothing in its status", async () => {
  const { port } = await saying("HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nok");

  expect(await createClient(ZONE, port).call(posted(getUrl(port)))).toMatchObject({
    kind: "answer",
    status: 204,
  });
});

test("the client skips some interim answers, and refuses a stream of them", async () => {
  const hint = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
  const polite = await saying(`${hint.repeat(3)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
  const endless = await saying(hint.repeat(100));

  expect(await createClient(ZONE, polite.port).call(posted(getUrl(polite.port)))).toMatchObject({
    status: 200,
  });
  expect(await createClient(ZONE, endless.port).call(posted(getUrl(endless.port)))).toEqual({
    kind: "failed",
    why: "not_http",
  });
});

test("the client fetches an MTA-STS policy as published, and follows no redirect", async () => {
  const policy = "version: STSv1\nmode: enforce\nmx: mx.example.com\nmax_age: 86400\n";
  const { port } = await listenSecure((request, answer) => {
    if (request.url === "/moved")
      answer.writeHead(301, { location: "/.well-known/mta-sts.txt" }).end();
    else if (request.url === "/long") answer.end("x".repeat(70_000));
    else answer.writeHead(200, { "content-type": "text/plain" }).end(`${request.method} ${policy}`);
  });
  const fetchDocument = createDocumentFetcher(createClient(ZONE, port));

  expect(await fetchDocument(getUrl(port, "/.well-known/mta-sts.txt"))).toEqual({
    kind: "answer",
    status: 200,
    contentType: "text/plain",
    body: `GET ${policy}`,
    isComplete: true,
  });
  expect(await fetchDocument(getUrl(port, "/moved"))).toMatchObject({ status: 301 });
  expect(await fetchDocument(getUrl(port, "/long"))).toMatchObject({ isComplete: false });
  expect(await fetchDocument("https://127.0.0.1/")).toEqual({
    kind: "failed",
    why: "private_address",
  });
});

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" version="1.2" baseProfile="tiny-ps"><title>Example</title></svg>';

test("the client reads a logo as served, and refuses a private address, a redirect and a stream", async () => {
  const paths: (string | undefined)[] = [];
  const { port } = await listenSecure((request, answer) => {
    paths.push(request.url);
    if (request.url === "/moved.svg") answer.writeHead(302, { location: "/logo.svg" }).end();
    else if (request.url === "/endless.svg") answer.write("<svg>".repeat(20_000));
    else if (request.url === "/packed.svg")
      answer.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(SVG));
    else if (request.url === "/packed.svgz") answer.end(gzipSync(SVG));
    else answer.end(request.url === "/logo.svg" ? SVG : "<svg/>");
  });
  const fetchDocument = createDocumentFetcher(createClient(ZONE, port));
  const getHints = async (url: string) => {
    const TXT = [`v=BIMI1; l=${url}; a=https://example.com/l.pem`];
    const hints = await findBimiHints(createZoneDns({ "default._bimi.example.com": { TXT } }), {
      domain: "example.com",
      dmarc: {
        status: "pass",
        policy: "reject",
        record: "v=DMARC1; p=reject",
        recordDomain: "example.com",
        organisation: "example.com",
      },
      fetchDocument,
    });
    return hints.map(({ id }) => id).filter((id) => id !== "BIMI_CERTIFICATE");
  };

  expect(await getHints(getUrl(port, "/logo.svg"))).toEqual([]);
  expect(await getHints(getUrl(port, "/bare.svg"))).toEqual(["BIMI_LOGO_BAD"]);
  expect(await getHints(getUrl(port, "/endless.svg"))).toEqual(["BIMI_LOGO_BAD"]);
  for (const path of ["/moved.svg", "/packed.svg", "/packed.svgz"])
    expect(await getHints(getUrl(port, path))).toEqual(["BIMI_LOGO_UNCHECKED"]);
  expect(await getHints(`https://127.0.0.1:${port}/logo.svg`)).toEqual(["BIMI_LOGO_UNCHECKED"]);
  expect(await getHints("https://gone.test/logo.svg")).toEqual(["BIMI_LOGO_BAD"]);
  expect(paths).toHaveLength(6);
});
