import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import {
  AWS_TIMEOUT_MS,
  type Aws,
  createClientOptions,
  type SignedRequest,
  toReply,
} from "@mailproof/functions/aws/requests";
import { createAwsTransport } from "@mailproof/functions/aws/transport";
import { expect, test } from "vitest";
import { CREDENTIALS, REGION } from "../aws/emulators.ts";

const sockets = createAwsTransport();

const awsAt = (dynamodb: string, over = sockets): Aws => ({
  region: REGION,
  credentials: CREDENTIALS,
  endpoints: { dynamodb },
  transport: over,
  now: () => new Date(),
  random: () => 0,
  sleep: async () => {},
});

const listTables = (aws: Aws, timeoutMs: number) => {
  const client = new DynamoDBClient(createClientOptions(aws, "dynamodb", () => timeoutMs));
  return toReply(client.send(new ListTablesCommand()));
};

const whenRequested = async (listener: RequestListener, timeoutMs: number) => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    return await listTables(awsAt(`http://127.0.0.1:${port}`), timeoutMs);
  } finally {
    server.close();
    server.closeAllConnections();
  }
};

const TABLES = '{"TableNames":["one"]}';

test.each<[string, RequestListener]>([
  ["is silent", () => {}],
  ["hangs up", (awsCall) => awsCall.socket.destroy()],
  [
    "hangs up inside its answer",
    (awsCall, answer) => {
      answer.writeHead(200, { "content-length": 10 });
      answer.write("12345", () => awsCall.socket.destroy());
    },
  ],
  [
    "hangs up inside a refusal",
    (awsCall, answer) => {
      answer.writeHead(400, { "content-length": 10 });
      answer.write("12345", () => awsCall.socket.destroy());
    },
  ],
  ["sends an unreadable answer", (_incoming, answer) => void answer.end("{")],
  [
    "sends an unreadable refusal",
    (_incoming, answer) => void answer.writeHead(413).end("<html>no</html>"),
  ],
])("the AWS transport reports lost when a service %s", async (_case, listener) => {
  expect(await whenRequested(listener, 200)).toMatchObject({ kind: "lost" });
});

test("the AWS transport reports busy when no service listens", async () => {
  expect(await listTables(awsAt("http://127.0.0.1:1"), 5_000)).toMatchObject({ kind: "busy" });
});

test("the AWS transport reads an answer whole", async () => {
  const outcome = await whenRequested((_incoming, answer) => void answer.end(TABLES), 5_000);

  expect(outcome).toMatchObject({ kind: "ok", output: { TableNames: ["one"] } });
});

test("the AWS transport throws for a command that cannot be sent", async () => {
  const requests: SignedRequest[] = [];
  const aws = awsAt("http://127.0.0.1:1", async (request) => {
    requests.push(request);
    throw new Error("not sent");
  });
  const client = new S3Client(createClientOptions(aws, "s3", () => 1));

  const reply = toReply(client.send(new GetObjectCommand({ Bucket: "", Key: "a" })));

  await expect(reply).rejects.toThrow("Bucket");
  expect(requests).toEqual([]);
});

test("the AWS transport refuses a call timeout longer than a socket's silence limit", async () => {
  await expect(sockets({} as SignedRequest, 30_001)).rejects.toThrow(
    "no socket stays silent for 30001 ms",
  );
  expect(AWS_TIMEOUT_MS).toBe(30_000);
});

test("the AWS transport reuses a fresh socket, but not after a possible freeze of the Lambda", async () => {
  let ms = 0;
  const ports: (number | undefined)[] = [];
  const server = createServer((awsCall, answer) => {
    ports.push(awsCall.socket.remotePort);
    answer.end(TABLES);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const aws = awsAt(
    `http://127.0.0.1:${port}`,
    createAwsTransport(() => ms),
  );
  const countRequests = async (waitMs: number) => {
    ms += waitMs;
    const reply = await listTables(aws, 5_000);
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
