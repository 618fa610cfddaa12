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
import {
  deriveFrontSecret,
  FRONT_HEADER,
  getClientIp,
  listFrontSecrets,
} from "@mailproof/functions/client-ip";
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

const FRONT_SECRET = deriveFrontSecret("a sealing key");
const CLOUDFRONT = "203.0.113.9";

const fromCloudFront = (
  forwarded: string | undefined,
  secret = FRONT_SECRET,
  secrets = FRONT_SECRET,
) =>
  getClientIp(
    {
      headers: { "x-forwarded-for": forwarded, [FRONT_HEADER]: secret },
      requestContext: { http: { sourceIp: CLOUDFRONT } } as never,
    },
    secrets,
  );

test.each([
  ["adds to an empty header", `192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["adds an IPv6 address", `2001:db8::7, ${CLOUDFRONT}`, "2001:db8::7"],
  ["adds to another address", `198.51.100.1, 192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["adds to its own address", `${CLOUDFRONT}, 192.0.2.7, ${CLOUDFRONT}`, "192.0.2.7"],
  ["sends a single address", "192.0.2.7", "192.0.2.7"],
  ["sends no header", undefined, CLOUDFRONT],
])(
  "a Lambda reads the viewer's address from the header when CloudFront %s",
  (_case, forwarded, ip) => {
    expect(fromCloudFront(forwarded)).toBe(ip);
  },
);

test.each([
  ["another secret", deriveFrontSecret("another sealing key")],
  ["a part of the secret", FRONT_SECRET.slice(1)],
  ["letters of two bytes", "é".repeat(64)],
  ["an empty secret", ""],
])("a Lambda uses the direct caller's address when the caller's secret is %s", (_case, secret) => {
  expect(fromCloudFront("192.0.2.7", secret)).toBe(CLOUDFRONT);
});

test("a Lambda reads the viewer's address while CloudFront sends the secret of the sealing key before", () => {
  const secrets = listFrontSecrets(["another sealing key", "a sealing key"]);

  expect(fromCloudFront("192.0.2.7", FRONT_SECRET, secrets)).toBe("192.0.2.7");
  expect(listFrontSecrets(["a sealing key", ""])).toBe(FRONT_SECRET);
});

test("a Lambda without the secret uses the direct caller's address and ignores the headers", () => {
  const http = { sourceIp: "192.0.2.1" };
  const event = { headers: { "x-forwarded-for": "192.0.2.7" }, requestContext: { http } as never };

  expect(getClientIp(event, FRONT_SECRET)).toBe("192.0.2.1");
  expect(getClientIp({ ...event, headers: { [FRONT_HEADER]: "" } }, undefined)).toBe("192.0.2.1");
});
