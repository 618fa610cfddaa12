import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import {
  AWS_TIMEOUT_MS,
  type Aws,
  sendForText,
  sendRequest,
} from "@mailproof/functions/aws/requests";
import { createAwsTransport } from "@mailproof/functions/aws/transport";
import { expect, test } from "vitest";
import { CREDENTIALS, REGION } from "../aws/emulators.ts";

const sockets = createAwsTransport();

const awsAt = (s3: string, over = sockets): Aws => ({
  region: REGION,
  credentials: CREDENTIALS,
  endpoints: { s3 },
  transport: over,
  now: () => new Date(),
  random: () => 0,
  sleep: async () => {},
});

const whenRequested = async (listener: RequestListener, timeoutMs: number) => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const aws = awsAt(`http://127.0.0.1:${port}`);
  try {
    return await sendForText(aws, "s3", { method: "GET", path: "/" }, timeoutMs);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

test.each<[string, RequestListener]>([
  ["is silent", () => {}],
  ["hangs up", (awsCall) => awsCall.socket.destroy()],
  [
    "hangs up in the middle of its answer",
    (awsCall, answer) => {
      answer.writeHead(200, { "content-length": 10 });
      answer.write("12345", () => awsCall.socket.destroy());
    },
  ],
])("when a service %s, it is not known what was done", async (_case, listener) => {
  expect(await whenRequested(listener, 200)).toMatchObject({ kind: "lost" });
});

test("when nobody is there, nothing was done", async () => {
  const awsCall = sendRequest(
    awsAt("http://127.0.0.1:1"),
    "s3",
    { method: "GET", path: "/" },
    5_000,
  );

  expect(await awsCall).toMatchObject({ kind: "busy" });
});

test("an answer is read whole", async () => {
  const outcome = await whenRequested((_incoming, answer) => void answer.end("all of it"), 5_000);

  expect(outcome).toMatchObject({ kind: "ok", text: "all of it" });
});

test("nobody waits for longer than a socket may be silent", async () => {
  const awsCall = sendRequest(
    awsAt("http://127.0.0.1:1"),
    "s3",
    { method: "GET", path: "/" },
    30_001,
  );

  await expect(awsCall).rejects.toThrow("no socket stays silent for 30001 ms");
  expect(AWS_TIMEOUT_MS).toBe(30_000);
});

test("a socket is used again while it is fresh, and not after a Lambda may have been frozen", async () => {
  let ms = 0;
  const ports: (number | undefined)[] = [];
  const server = createServer((awsCall, answer) => {
    ports.push(awsCall.socket.remotePort);
    answer.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const aws = awsAt(
    `http://127.0.0.1:${port}`,
    createAwsTransport(() => ms),
  );
  const countRequests = async (waitMs: number) => {
    ms += waitMs;
    const reply = await sendForText(aws, "s3", { method: "GET", path: "/" }, 5_000);
    // The socket is free a moment after its answer was read.
    await new Promise((resolve) => setImmediate(resolve));
    return reply.kind;
  };

  expect([await countRequests(0), await countRequests(4_999), await countRequests(5_000)]).toEqual([
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
