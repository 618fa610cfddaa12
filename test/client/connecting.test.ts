import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createClient } from "@mailproof/client/client";
import { expect, onTestFinished, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { SELF_SIGNED } from "../servers/https-servers.ts";
import { createRefusedConnection, whenAnswered } from "./fake-fetch.ts";

// Over real sockets: where no connection was made, no request was sent, and nothing was charged.

const startListening = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

const failureAt = async (baseUrl: string) => {
  const client = createClient({ baseUrl, key: "k", retries: 0 });
  return client.verifyEmail({ email: "ann@example.com" }).catch((error: unknown) => error);
};

const closedPort = async (): Promise<number> => {
  const server = createServer();
  const port = await startListening(server);
  const closed = once(server, "close");
  server.close();
  await closed;
  return port;
};

type Unreachable = readonly [
  since: string,
  at: () => Promise<string>,
  why: string | RegExp,
  retryable: boolean,
];

const UNREACHABLE: readonly Unreachable[] = asRows`
  nothing listens there | ${async () => `http://127.0.0.1:${await closedPort()}`} | ECONNREFUSED | true
  its name has two addresses, and nothing listens at either | ${async () => `http://localhost:${await closedPort()}`} | ECONNREFUSED | true
  its name does not exist | ${async () => "http://mailproof.invalid"} | ${/ENOTFOUND|EAI_AGAIN/} | true
  its certificate is not trusted | ${async () => `https://127.0.0.1:${await startListening(createHttpsServer(SELF_SIGNED))}`} | DEPTH_ZERO_SELF_SIGNED_CERT | false
  it speaks http instead of https | ${async () => `https://127.0.0.1:${await startListening(createHttpServer())}`} | ERR_SSL_WRONG_VERSION_NUMBER | false
  its connection ends before TLS begins | ${async () => `https://127.0.0.1:${await startListening(createServer((socket) => socket.destroy()))}`} | ECONNRESET | true
  fetch blocks its port | ${async () => "http://127.0.0.1:9"} | bad port | false
`;

test.each(UNREACHABLE)(
  "a call reports the reason and no charge when the service cannot be reached since %s",
  async (_, at, why, retryable) => {
    const error = await failureAt(await at());

    expect(error).toMatchObject({ code: "NETWORK", money: "nothing_charged", retryable });
    expect((error as Error).message).toMatch(
      /^Could not connect to the service \(.*\)\. Nothing was charged\.$/,
    );
    expect((error as Error).message).toMatch(why);
  },
);

test.each(asRows`
  after Node's attempts at several addresses | ${Object.assign(new AggregateError([new Error("v4"), new Error("v6")]), { code: "ETIMEDOUT" })}
  when the connection times out | ${Object.assign(new Error("Connect Timeout Error"), { code: "UND_ERR_CONNECT_TIMEOUT" })}
  when the network is unreachable | ${Object.assign(new Error("connect ENETUNREACH"), { code: "ENETUNREACH", syscall: "connect" })}
  when the certificate has expired | ${Object.assign(new Error("certificate has expired"), { code: "CERT_HAS_EXPIRED" })}
  in Deno | ${new TypeError("error sending request for url (https://x/): client error (Connect): tcp connect error")}
  in Bun | ${Object.assign(new Error("Was there a typo in the url or port?"), { code: "FailedToOpenSocket" })}
`)("a client call without a connection reports no charge: %s", async (_, cause) => {
  const { client } = whenAnswered([Object.assign(new TypeError("fetch failed"), { cause })], {
    retries: 0,
  });
  const own = whenAnswered([cause], { retries: 0 });

  await expect(client.verifyEmail({ email: "a@x.com" })).rejects.toMatchObject({
    money: "nothing_charged",
  });
  await expect(own.client.verifyEmail({ email: "a@x.com" })).rejects.toMatchObject({
    money: "nothing_charged",
  });
});

test.each([
  ["is cut", "ECONNRESET", undefined],
  ["times out during a read", "ETIMEDOUT", "read"],
  ["loses its route during a write", "EHOSTUNREACH", "write"],
])("a client call whose connection %s may have been charged", async (_, code, syscall) => {
  const broken = createRefusedConnection(code);
  Object.assign(broken.cause as Error, { syscall });
  const { client } = whenAnswered([broken], { retries: 0 });

  await expect(client.verifyEmail({ email: "a@x.com" })).rejects.toMatchObject({
    code: "NETWORK",
    money: "retry_same_key",
  });
});

test("the client does not repeat a call after an untrusted certificate", async () => {
  const { client, sent, waitsMs } = whenAnswered([createRefusedConnection("CERT_HAS_EXPIRED")]);

  await expect(client.verifyEmail({ email: "a@x.com" })).rejects.toMatchObject({
    retryable: false,
  });
  expect({ sent: sent.length, waitsMs }).toEqual({ sent: 1, waitsMs: [] });
});

test("a failed client call in a browser does not promise that nothing was charged", async () => {
  const { client } = whenAnswered([new TypeError("Failed to fetch")], { retries: 0 });

  await expect(client.getAccount()).rejects.toMatchObject({
    code: "NETWORK",
    message: expect.stringMatching(
      /^The service did not respond: the connection failed, or broke\./,
    ),
  });
});

test("the client distinguishes a response that ends too early from one that never began", async () => {
  const { client } = whenAnswered(
    [
      new Response(
        new ReadableStream({ start: (body) => body.error(new TypeError("terminated")) }),
      ),
    ],
    { retries: 0 },
  );

  await expect(client.getAccount()).rejects.toMatchObject({
    code: "NETWORK",
    message: expect.stringMatching(/^The connection broke before the whole response arrived\./),
  });
});
