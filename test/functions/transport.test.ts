import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type Aws, ask, askWhole, PATIENCE_MS } from "@mailproof/functions/aws/aws";
import { transport } from "@mailproof/functions/aws/transport";
import { expect, test } from "vitest";
import { CREDENTIALS, REGION } from "../aws/emulators.ts";

const sockets = transport();

const awsAt = (s3: string, over = sockets): Aws => ({
  region: REGION,
  credentials: CREDENTIALS,
  endpoints: { s3 },
  transport: over,
  now: () => new Date(),
  random: () => 0,
  sleep: async () => {},
});

const whenAsked = async (listener: RequestListener, timeoutMs: number) => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const aws = awsAt(`http://127.0.0.1:${port}`);
  try {
    return await askWhole(aws, "s3", { method: "GET", path: "/" }, timeoutMs);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

test.each<[string, RequestListener]>([
  ["is silent", () => {}],
  ["hangs up", (asked) => asked.socket.destroy()],
  [
    "hangs up in the middle of its answer",
    (asked, answer) => {
      answer.writeHead(200, { "content-length": 10 });
      answer.write("12345", () => asked.socket.destroy());
    },
  ],
])("when a service %s, it is not known what was done", async (_case, listener) => {
  expect(await whenAsked(listener, 200)).toMatchObject({ kind: "lost" });
});

test("when nobody is there, nothing was done", async () => {
  const asked = ask(awsAt("http://127.0.0.1:1"), "s3", { method: "GET", path: "/" }, 5_000);

  expect(await asked).toMatchObject({ kind: "busy" });
});

test("an answer is read whole", async () => {
  const came = await whenAsked((_asked, answer) => void answer.end("all of it"), 5_000);

  expect(came).toMatchObject({ kind: "ok", text: "all of it" });
});

test("nobody waits for longer than a socket may be silent", async () => {
  const asked = ask(awsAt("http://127.0.0.1:1"), "s3", { method: "GET", path: "/" }, 30_001);

  await expect(asked).rejects.toThrow("no socket stays silent for 30001 ms");
  expect(PATIENCE_MS).toBe(30_000);
});

test("a socket is used again while it is fresh, and not after a Lambda may have been frozen", async () => {
  let ms = 0;
  const ports: (number | undefined)[] = [];
  const server = createServer((asked, answer) => {
    ports.push(asked.socket.remotePort);
    answer.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const aws = awsAt(
    `http://127.0.0.1:${port}`,
    transport(() => ms),
  );
  const askedAfter = async (waitMs: number) => {
    ms += waitMs;
    const heard = await askWhole(aws, "s3", { method: "GET", path: "/" }, 5_000);
    // The socket is free a moment after its answer was read.
    await new Promise((resolve) => setImmediate(resolve));
    return heard.kind;
  };

  expect([await askedAfter(0), await askedAfter(4_999), await askedAfter(5_000)]).toEqual([
    "ok",
    "ok",
    "ok",
  ]);

  server.close();
  server.closeAllConnections();
  const [first, second, third] = ports;
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});
