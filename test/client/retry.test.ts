import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createClient } from "@mailproof/client/client";
import { MailproofError } from "@mailproof/client/errors";
import { expect, onTestFinished, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";
import { SELF_SIGNED } from "../servers/https-servers.ts";
import {
  type AnswerStep,
  createDataResponse,
  createRefusal,
  createRefusedConnection,
  whenAnswered,
} from "./fake-fetch.ts";

const BROKEN = createRefusedConnection("ECONNRESET");
const REFUSED = createRefusedConnection("ECONNREFUSED");
const GATEWAY = () => new Response("<html>Bad gateway</html>", { status: 502 });
const BUSY = (money: string, headers = {}) =>
  createRefusal(503, { code: "UNAVAILABLE", money, retryable: true }, headers);
const LIMITED = (seconds: string) =>
  createRefusal(
    429,
    { code: "RATE_LIMITED", money: "nothing_charged", retryable: true },
    { "retry-after": seconds },
  );
const FIND = { first_name: "Ada", last_name: "Lovelace", domain: "example.com" };

const CALLS = {
  read: (client) => client.getAccount(),
  paid: (client) => client.verifyEmail({ email: "a@x.com" }),
  search: (client) => client.findEmail(FIND),
  mint: (client) => client.createApiKey({ name: "n", mode: "test" }),
} as const satisfies Record<
  string,
  (client: ReturnType<typeof whenAnswered>["client"]) => Promise<unknown>
>;

test.each([
  ["read", "a broken connection", () => BROKEN],
  ["read", "a gateway's answer", GATEWAY],
  ["read", "a busy service", () => BUSY("nothing_charged")],
  ["paid", "a broken connection", () => BROKEN],
  ["paid", "a gateway's answer", GATEWAY],
  ["paid", "a busy service", () => BUSY("retry_same_key")],
  [
    "paid",
    "a failure that asks for the same key",
    () => createRefusal(500, { code: "INTERNAL", money: "retry_same_key" }),
  ],
  [
    "paid",
    "work under way",
    () =>
      createRefusal(409, { code: "REQUEST_IN_PROGRESS", money: "retry_same_key", retryable: true }),
  ],
  ["search", "a refused connection", () => REFUSED],
  ["search", "a full minute", () => LIMITED("1")],
  ["search", "a busy service that charged nothing", () => BUSY("nothing_charged")],
  ["mint", "a refused connection", () => REFUSED],
  ["mint", "a full minute", () => LIMITED("1")],
] as const)("the client repeats a %s call after %s", async (call, _, answer) => {
  const { client, sent } = whenAnswered([answer(), createDataResponse({ ok: true })]);

  expect(await CALLS[call](client)).toEqual({ ok: true });
  expect(sent).toHaveLength(2);
});

test.each([
  [401, "UNAUTHORIZED"],
  [403, "FORBIDDEN"],
] as const)(
  "the client does not repeat a call refused with %s, since waiting does not change a key",
  async (status, code) => {
    const { client, sent } = whenAnswered([
      createRefusal(status, { code, money: "retry_same_key" }),
    ]);

    await expect(client.verifyEmail({ email: "a@x.com" })).rejects.toMatchObject({
      code,
      money: "retry_same_key",
    });
    expect(sent).toHaveLength(1);
  },
);

test("a client call after a full minute reports the service's own statement about the money", async () => {
  const full = createRefusal(
    429,
    { code: "RATE_LIMITED", money: "retry_same_key", retryable: true },
    { "retry-after": "1" },
  );
  const poor = createRefusal(402, { code: "INSUFFICIENT_CREDITS", money: "nothing_charged" });
  const { client } = whenAnswered([full, poor]);

  await expect(client.verifyEmail({ email: "a@x.com" })).rejects.toMatchObject({
    code: "INSUFFICIENT_CREDITS",
    money: "nothing_charged",
  });
});

test.each([
  ["paid", "a failure whose outcome is unknown", "unknown"],
  ["paid", "a charge that was kept", "kept"],
  ["search", "a busy service that may have charged", "repeat_search"],
] as const)("the client does not repeat a %s call after %s", async (call, _, money) => {
  const status = money === "repeat_search" ? 503 : 500;
  const code = status === 503 ? "UNAVAILABLE" : "INTERNAL";
  const answer = createRefusal(status, { code, money, retryable: status === 503 });
  const { client, sent } = whenAnswered([answer]);

  await expect(CALLS[call](client)).rejects.toMatchObject({ code, money, retryable: false });
  expect(sent).toHaveLength(1);
});

test.each([
  ["search", "a broken connection", () => BROKEN, "repeat_search"],
  ["search", "a gateway's answer", GATEWAY, "repeat_search"],
  ["search", "an answer that is none", () => new Response("<html>"), "repeat_search"],
  ["mint", "a broken connection", () => BROKEN, "nothing_charged"],
  ["mint", "a gateway's answer", GATEWAY, "nothing_charged"],
  ["mint", "a busy service", () => BUSY("nothing_charged"), "nothing_charged"],
] as const)(
  "the client does not repeat a %s call after %s when nothing proves its outcome",
  async (call, _, answer, money) => {
    const { client, sent } = whenAnswered([answer()]);

    await expect(CALLS[call](client)).rejects.toMatchObject({ money, retryable: false });
    expect(sent).toHaveLength(1);
  },
);

test("the client's waits grow up to the longest of the list and end", async () => {
  const { client, waitsMs } = whenAnswered([BROKEN, BROKEN, BROKEN, BROKEN, BROKEN]);

  await expect(CALLS.read(client)).rejects.toBeInstanceOf(MailproofError);
  expect(waitsMs).toEqual([500, 1_500, 4_000, 10_000]);
});

test("the client repeats no call before the service's Retry-After has passed", async () => {
  const { client, waitsMs } = whenAnswered([LIMITED("37"), createDataResponse({})]);

  await CALLS.read(client);

  expect(waitsMs).toEqual([37_250]);
});

test("the client accepts a date as Retry-After, as gateways write it", async () => {
  const date = new Date(Date.now() + 60_000).toUTCString();
  const { client, waitsMs } = whenAnswered([LIMITED(date), createDataResponse({})]);

  await CALLS.read(client);

  expect(waitsMs[0]).toBeGreaterThan(50_000);
});

test("the client reports a Retry-After that is too long instead of waiting", async () => {
  const { client, waitsMs } = whenAnswered([LIMITED("3600")]);

  await expect(CALLS.read(client)).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
  expect(waitsMs).toEqual([]);
});

test("a refused repeat after a lost response does not report that nothing was charged", async () => {
  const refused = createRefusal(401, { code: "UNAUTHORIZED", money: "nothing_charged" });
  const { client, sent } = whenAnswered([BROKEN, refused]);

  const error = await CALLS.paid(client).catch((thrown: unknown) => thrown);

  const key = new Headers(sent[0]?.init.headers).get("idempotency-key");
  expect(error).toMatchObject({ code: "UNAUTHORIZED", status: 401, money: "retry_same_key" });
  expect(error).toMatchObject({ idempotencyKey: key });
});

test("each client call sends its own key, and every attempt sends a given key", async () => {
  const { client, sent } = whenAnswered([
    createDataResponse({}),
    createDataResponse({}),
    BROKEN,
    createDataResponse({}),
  ]);

  await client.verifyEmail({ email: "a@x.com" });
  await client.verifyEmail({ email: "a@x.com" });
  await client.verifyEmail({ email: "a@x.com" }, { idempotencyKey: "mine" });

  const keys = sent.map(({ init }) => new Headers(init.headers).get("idempotency-key"));
  expect(new Set(keys).size).toBe(3);
  expect(keys.slice(2)).toEqual(["mine", "mine"]);
});

const never: AnswerStep = (signal) =>
  new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error)),
  );

test("the client abandons an attempt that takes too long and makes the next one", async () => {
  const { client, sent } = whenAnswered([never, createDataResponse({ ok: true })], {
    timeoutMs: 5,
  });

  expect(await CALLS.paid(client)).toEqual({ ok: true });
  expect(sent).toHaveLength(2);
});

test("the client abandons a body that does not end", async () => {
  const endless: AnswerStep = async (signal) =>
    new Response(
      new ReadableStream({
        start: (stream) => signal.addEventListener("abort", () => stream.error(signal.reason)),
      }),
    );
  const { client } = whenAnswered([endless], { timeoutMs: 5, retries: 0 });

  await expect(CALLS.paid(client)).rejects.toMatchObject({
    code: "TIMEOUT",
    money: "retry_same_key",
  });
});

test("a client call aborted before it was sent charges nothing", async () => {
  const { client, sent } = whenAnswered([]);
  const signal = AbortSignal.abort();

  const call = client.verifyEmail({ email: "a@x.com" }, { signal });

  await expect(call).rejects.toMatchObject({ code: "ABORTED", money: "nothing_charged" });
  expect(sent).toEqual([]);
});

test("a client call aborted after it was sent may have been charged and is not repeated", async () => {
  const { client, sent } = whenAnswered([never]);
  const leaving = new AbortController();

  const call = client.verifyEmail({ email: "a@x.com" }, { signal: leaving.signal });
  leaving.abort(new Error("the user left"));

  await expect(call).rejects.toMatchObject({
    code: "ABORTED",
    money: "retry_same_key",
    cause: new Error("the user left"),
  });
  expect(sent).toHaveLength(1);
});

test("a client call sends its path, query and body, and the key as a bearer token", async () => {
  const { client, sent } = whenAnswered([
    createDataResponse({}),
    createDataResponse({}),
    createDataResponse({}),
  ]);

  await client.getActivity({ email: "a/b?c@x.com" });
  await client.getJob({ id: "job_1", include_results: false, limit: 5, next_key: undefined });
  await client.updateWebhook({ id: "whk_1", status: "disabled" });

  expect(sent.map(({ url, init }) => [init.method, url, init.body])).toEqual([
    ["GET", "https://api.example.com/v1/activity/a%2Fb%3Fc%40x.com", undefined],
    ["GET", "https://api.example.com/v1/jobs/job_1?include_results=false&limit=5", undefined],
    ["PUT", "https://api.example.com/v1/webhooks/whk_1", '{"status":"disabled"}'],
  ]);
  expect(new Headers(sent[0]?.init.headers).get("authorization")).toBe("Bearer mp_test_x");
});

test("the client refuses an empty id before it sends the call", async () => {
  const { client, sent } = whenAnswered([]);

  await expect(client.getJob({ id: "" })).rejects.toThrow("id is required");
  expect(sent).toEqual([]);
});

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
