import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { endpoints } from "@mailproof/api/endpoints";
import { verifyBatch } from "@mailproof/api/endpoints/verify-batch";
import { BODY_BYTES_MAX, getBodyBytesMax } from "@mailproof/api/http/body";
import type { Endpoint } from "@mailproof/api/http/endpoint";
import { createKey } from "@mailproof/core/accounts/api-keys";
import type { AppWorld } from "@mailproof/core/app-world";
import { acceptInvitation, invite } from "@mailproof/core/people/invitations";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { lambda } from "@mailproof/functions/lambda";
import { createApiServer } from "@mailproof/local/server/server";
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import { expect, test } from "vitest";
import { toBytes, toEvent, toHeaders, type WireRequest } from "../../infra/gateway-event.ts";
import { whenWorked } from "../app/drain-queues.ts";
import { createFakeStreamEndpoint, failAfter, fakeFormEndpoint } from "../app/fake-endpoints.ts";
import { encodeForm } from "../app/form.ts";
import { given } from "../app/given.ts";
import { whenVerified } from "../app/send.ts";
import { createContext } from "../aws/events.ts";
import { asRows } from "../runner/as-rows.ts";
import { createRows, givenJobOf, verifyEmail } from "../things/export-jobs.ts";
import { createEmails, formatCsv, whenBatched, whenPut } from "../things/jobs.ts";

type Answered = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string | Readonly<Record<string, unknown>>;
};

const OWN_ADDRESS =
  /https:\/\/api\.execute-api\.eu-central-1\.amazonaws\.com|http:\/\/(?:localhost|127\.0\.0\.1:\d+)/g;

const parseAnswer = (
  status: number,
  headers: Readonly<Record<string, unknown>>,
  bytes: Buffer,
): Answered => {
  const isJson = bytes.length > 0 && String(headers["content-type"]).startsWith("application/json");
  // Documents name the address of what serves them.
  const text = bytes.toString().replaceAll(OWN_ADDRESS, "BASE");
  const body = isJson ? (JSON.parse(text) as Answered["body"]) : text;
  return { status, headers, body };
};

type Via = (world: AppWorld, sent: WireRequest, listed?: readonly Endpoint[]) => Promise<Answered>;

const viaLambda: Via = async (world, sent, listed = endpoints) => {
  const event = toEvent(sent, listed);
  const endpoint = listed.find(({ route }) => route === event.routeKey);
  const answer: APIGatewayProxyStructuredResultV2 = endpoint
    ? await lambda(endpoint, world)(event, createContext())
    : await createFallbackHandler(world)(event, createContext());
  return parseAnswer(answer.statusCode ?? 0, toHeaders(answer), toBytes(answer));
};

const viaServer: Via = async (world, sent, listed = endpoints) => {
  const listening = createApiServer(world, () => undefined, listed).listen(0, "127.0.0.1");
  await once(listening, "listening");
  try {
    const { port } = listening.address() as AddressInfo;
    const { method, url: path, headers = [], body } = sent;
    const length = body === undefined ? [] : ["content-length", String(Buffer.byteLength(body))];
    const clientRequest = request({
      port,
      method,
      path,
      headers: ["host", "localhost", ...headers.flat(), ...length],
    });
    clientRequest.end(body);
    const [answer] = await once(clientRequest, "response");
    const { "set-cookie": [cookie] = [], ...others } = answer.headers;
    const all = { ...others, ...(cookie !== undefined && { "set-cookie": cookie }) };
    return parseAnswer(answer.statusCode, all, await buffer(answer));
  } finally {
    listening.close();
  }
};

// Made by the way in, not by the service: the socket's, the page's, the name of the request, and the tag of a text that
// holds the address it was asked at.
const OF_THE_WAY_IN =
  /^(date|connection|keep-alive|content-length|transfer-encoding|etag|access-control-.*|x-request-id)$/;

const toComparable = ({ status, headers, body }: Answered) => ({
  status,
  headers: Object.fromEntries(
    Object.entries(headers).filter(([name]) => !OF_THE_WAY_IN.test(name)),
  ),
  body:
    typeof body === "string" ? body : { ...body, ...("request_id" in body && { request_id: "…" }) },
});

/** What a browser sends with a request of the dashboard. */
const OWN_PAGE = ["sec-fetch-site", "same-origin"] as const;
const JSON_TYPE = ["content-type", "application/json"] as const;
const post = (body: string | Buffer, ...headers: WireRequest["headers"] & {}): WireRequest => ({
  method: "POST",
  url: "/v1/api-keys",
  headers,
  body,
});
const aKey = JSON.stringify({ name: "Ann's ключ", mode: "test" });
const get = (url: string, ...headers: WireRequest["headers"] & {}): WireRequest => ({
  method: "GET",
  url,
  headers,
});

const verification = (body: unknown, ...headers: WireRequest["headers"] & {}): WireRequest => ({
  ...post(JSON.stringify(body), JSON_TYPE, ["x-api-key", "KEY"], ...headers),
  url: "/v1/verify",
});
const ann = { email: "ann@x.com" };

const batch = (body: unknown, ...headers: WireRequest["headers"] & {}): WireRequest => ({
  ...verification(body, ...headers),
  url: "/v1/verify/batch",
});
const bo = { emails: ["bo@x.com"] };
const file = (body: unknown, ...headers: WireRequest["headers"] & {}): WireRequest => ({
  ...verification(body, ...headers),
  url: "/v1/verify/file",
});
const FILE_KEY = "uploads/live/acc_1/upl_1.bGlzdC5jc3Y.csv";
const process = { action: "process", file_key: FILE_KEY };

// Both ways in must be indistinguishable to a caller. KEY stands for a key that is in force, SESSION for a signed-in person's.
test.each(asRows<[string, WireRequest, number]>`
  a public route | ${get("/v1/catalog")} | 200
  a listed domain | ${get("/v1/listings/mail.Mailinator.com")} | 200
  health | ${get("/health")} | 200
  a key in its own header | ${get("/v1/account", ["X-Api-Key", "KEY"])} | 200
  a key as a bearer token | ${get("/v1/account", ["Authorization", "bearer KEY"])} | 200
  the same key twice | ${get("/v1/account", ["x-api-key", "KEY"], ["Authorization", "Bearer KEY"])} | 200
  two different keys | ${get("/v1/account", ["x-api-key", "KEY"], ["Authorization", "Bearer mp_live_x"])} | 401
  the key's header twice | ${get("/v1/account", ["x-api-key", "KEY"], ["x-api-key", "KEY"])} | 401
  no key | ${get("/v1/account")} | 401
  cookies | ${get("/v1/account", ["x-api-key", "KEY"], ["cookie", "a=1; b=2"])} | 200
  a session | ${get("/v1/person", ["cookie", "a=1; __Host-mailproof=SESSION"], OWN_PAGE)} | 200
  the end of a session | ${{ method: "DELETE", url: "/v1/session", headers: [["cookie", "__Host-mailproof=SESSION"], OWN_PAGE] }} | 200
  a session beside a key | ${get("/v1/person", ["cookie", "__Host-mailproof=SESSION"], ["x-api-key", "KEY"], OWN_PAGE)} | 403
  a session of another site's page | ${get("/v1/person", ["cookie", "__Host-mailproof=SESSION"], ["sec-fetch-site", "cross-site"])} | 401
  a query | ${get("/v1/account/usage?from=2026-11-01&to=2026-11-02", ["x-api-key", "KEY"])} | 200
  an address in the path, with a plus sign and letters beyond ASCII | ${get("/v1/activity/j%C3%BCrgen%2Bnews%40b%C3%BCcher.example", ["x-api-key", "KEY"])} | 200
  a text that is no address in the path | ${get("/v1/activity/j%C3%BCrgen", ["x-api-key", "KEY"])} | 400
  a query with a percent | ${get("/v1/account/usage?from=2026%2D11%2D01", ["x-api-key", "KEY"])} | 200
  a query parameter twice | ${get("/v1/account/usage?to=2026-11-02&to=2026-11-03", ["x-api-key", "KEY"])} | 400
  an unknown query parameter | ${get("/v1/account/usage?form=2026-11-01", ["x-api-key", "KEY"])} | 400
  a query parameter named __proto__ | ${get("/v1/account/usage?__proto__=1", ["x-api-key", "KEY"])} | 400
  a query where none is read | ${get("/v1/catalog?x=1")} | 400
  a path parameter with %2B and %40 | ${{ method: "DELETE", url: "/v1/api-keys/key_a%2Bb%40c", headers: [["x-api-key", "KEY"]] }} | 200
  a hundred parameters | ${get(`/health?${"a&".repeat(99)}a=1`)} | 200
  too many parameters | ${get(`/health?${"a&".repeat(7_500)}a`)} | 400
  a path parameter with a plain + | ${{ method: "DELETE", url: "/v1/api-keys/key_a+b@c", headers: [["x-api-key", "KEY"]] }} | 200
  an unknown id in the path | ${{ method: "DELETE", url: "/v1/api-keys/key_a%20b", headers: [["x-api-key", "KEY"]] }} | 404
  a body on a route that reads none | ${{ ...post("{", ["x-api-key", "KEY"]), method: "DELETE", url: "/v1/api-keys/key_a%2Bb%40c" }} | 200
  a body | ${post(aKey, JSON_TYPE, ["x-api-key", "KEY"])} | 201
  a body of bytes | ${post(Buffer.from(aKey), JSON_TYPE, ["x-api-key", "KEY"])} | 201
  a body without a type | ${post(aKey, ["x-api-key", "KEY"])} | 201
  a body with a byte order mark | ${post(Buffer.from(`\ufeff${aKey}`), JSON_TYPE, ["x-api-key", "KEY"])} | 201
  a body that is not UTF-8 | ${post(Buffer.from(aKey.replace("Ann", "Änn"), "latin1"), JSON_TYPE, ["x-api-key", "KEY"])} | 400
  a compressed body | ${post(gzipSync(aKey), JSON_TYPE, ["content-encoding", "gzip"], ["x-api-key", "KEY"])} | 415
  a body whose encoding is none | ${post(aKey, JSON_TYPE, ["content-encoding", "identity"], ["x-api-key", "KEY"])} | 201
  a type with a parameter | ${post(aKey, ["Content-Type", "application/json; charset=utf-8"], ["x-api-key", "KEY"])} | 201
  a type of another kind of JSON | ${post(aKey, ["content-type", "application/vnd.api+json"], ["x-api-key", "KEY"])} | 201
  a body of another type | ${post(aKey, ["content-type", "application/x-www-form-urlencoded"], ["x-api-key", "KEY"])} | 400
  half a body | ${post(aKey.slice(1), JSON_TYPE, ["x-api-key", "KEY"])} | 400
  an empty body | ${post("", JSON_TYPE, ["x-api-key", "KEY"])} | 400
  no body | ${{ method: "POST", url: "/v1/api-keys", headers: [["x-api-key", "KEY"]] }} | 400
  a list as the body | ${post(`[${aKey}]`, JSON_TYPE, ["x-api-key", "KEY"])} | 400
  null as the body | ${post("null", JSON_TYPE, ["x-api-key", "KEY"])} | 400
  a body of nothing but zero bytes | ${post(Buffer.alloc(9), JSON_TYPE, ["x-api-key", "KEY"])} | 400
  an unknown field | ${post(aKey.replace("{", '{"x":1,'), JSON_TYPE, ["x-api-key", "KEY"])} | 400
  a field for the path | ${post(aKey.replace("{", '{"key_id":"k",'), JSON_TYPE, ["x-api-key", "KEY"])} | 400
  a body at the limit | ${post(aKey + " ".repeat(BODY_BYTES_MAX - Buffer.byteLength(aKey)), JSON_TYPE, ["x-api-key", "KEY"])} | 201
  a body over the limit | ${post(" ".repeat(BODY_BYTES_MAX + 1), JSON_TYPE, ["x-api-key", "KEY"])} | 413
  bytes over the limit | ${post(Buffer.alloc(BODY_BYTES_MAX + 1), JSON_TYPE, ["x-api-key", "KEY"])} | 413
  no key and half a body: the key is looked at first | ${post("{", JSON_TYPE)} | 401
  no key and a body over the limit | ${post(" ".repeat(BODY_BYTES_MAX + 1), JSON_TYPE)} | 401
  two bearer tokens | ${get("/v1/account", ["Authorization", "Bearer KEY"], ["Authorization", "Bearer mp_live_x"])} | 401
  two content types | ${post(aKey, JSON_TYPE, ["content-type", "text/plain"], ["x-api-key", "KEY"])} | 400
  an address | ${verification(ann)} | 200
  an address with evidence | ${verification({ ...ann, options: { include_evidence: true } })} | 200
  an address that takes too long | ${verification({ email: "slow@x.com" })} | 200
  an address that breaks | ${verification({ email: "error@x.com" })} | 500
  an address under an Idempotency-Key | ${verification(ann, ["Idempotency-Key", "k"])} | 200
  an Idempotency-Key with a space | ${verification(ann, ["idempotency-key", "a b"])} | 400
  an Idempotency-Key beyond ASCII | ${verification(ann, ["idempotency-key", "cl\u00e9"])} | 400
  two Idempotency-Keys | ${verification(ann, ["idempotency-key", "a"], ["idempotency-key", "b"])} | 200
  another request's Idempotency-Key | ${verification(ann, ["idempotency-key", "used"])} | 409
  a wait that is too long | ${verification({ ...ann, options: { timeout_ms: 25_001 } })} | 200
  options that are a list | ${verification({ ...ann, options: [] })} | 400
  no address | ${verification({})} | 400
  an address in a body over the limit | ${verification({ ...ann, x: "x".repeat(BODY_BYTES_MAX) })} | 413
  a batch | ${batch(bo)} | 202
  a batch under an Idempotency-Key | ${batch(bo, ["Idempotency-Key", "k"])} | 202
  a batch that was sent before | ${batch({ emails: ["used@x.com"] }, ["Idempotency-Key", "used"])} | 202
  another batch's Idempotency-Key | ${batch(bo, ["Idempotency-Key", "used"])} | 409
  a batch of nothing | ${batch({ emails: [] })} | 400
  a batch with a wait | ${batch({ ...bo, options: { timeout_ms: 5_000 } })} | 400
  a batch beyond the credits | ${batch({ emails: createEmails(11) })} | 402
  a batch in a body over the limit | ${batch({ ...bo, x: "x".repeat(getBodyBytesMax(verifyBatch)) })} | 413
  an upload | ${file({ action: "get_upload_url", file_name: "list.csv" })} | 200
  an upload of a spreadsheet | ${file({ action: "get_upload_url", file_name: "list.xlsx" })} | 400
  a file | ${file(process)} | 202
  a file under an Idempotency-Key | ${file(process, ["Idempotency-Key", "k"])} | 202
  a file with a secret | ${file({ ...process, webhook_secret: "s".repeat(16) })} | 400
  a file by a column that is not there | ${file({ ...process, email_column: "Straße" })} | 400
  a file by several columns | ${file({ ...process, email_columns: ["0", "Straße"] })} | 400
  another account's file | ${file({ ...process, file_key: "uploads/live/acc_9/upl_1.bGlzdC5jc3Y.csv" })} | 403
  a file that is not there | ${file({ ...process, file_key: "uploads/live/acc_1/upl_9.bGlzdC5jc3Y.csv" })} | 404
  a file in a body over the limit | ${file({ ...process, x: "x".repeat(BODY_BYTES_MAX) })} | 413
  the jobs | ${get("/v1/jobs", ["x-api-key", "KEY"])} | 200
  the jobs of a state | ${get("/v1/jobs?status=completed&limit=1", ["x-api-key", "KEY"])} | 200
  the jobs of no state | ${get("/v1/jobs?status=", ["x-api-key", "KEY"])} | 400
  a page of no jobs | ${get("/v1/jobs?limit=0", ["x-api-key", "KEY"])} | 400
  a cursor with a percent | ${get("/v1/jobs?offset=%2B%2F", ["x-api-key", "KEY"])} | 400
  a job | ${get("/v1/jobs/job_1", ["x-api-key", "KEY"])} | 200
  a job with an escaped letter | ${get("/v1/jobs/job%5F1", ["x-api-key", "KEY"])} | 200
  a job without results | ${get("/v1/jobs/job_1?include_results=false", ["x-api-key", "KEY"])} | 200
  a job that is not there | ${get("/v1/jobs/job_9", ["x-api-key", "KEY"])} | 404
  a job with an endless name | ${get(`/v1/jobs/${"x".repeat(3_000)}`, ["x-api-key", "KEY"])} | 404
  a job without a key | ${get("/v1/jobs/job_1")} | 401
  an export | ${get("/v1/jobs/job_1/download", ["x-api-key", "KEY"])} | 200
  an export as JSON | ${get("/v1/jobs/job_1/download?format=JSON&filter=Valid", ["x-api-key", "KEY"])} | 200
  an export of nothing that there is | ${get("/v1/jobs/job_1/download?filter=good", ["x-api-key", "KEY"])} | 400
  an export twice filtered | ${get("/v1/jobs/job_1/download?filter=valid&filter=risky", ["x-api-key", "KEY"])} | 400
  an export of no job | ${get("/v1/jobs/job_9/download", ["x-api-key", "KEY"])} | 404
  an export without a key | ${get("/v1/jobs/job_1/download")} | 401
  an unknown route | ${get("/v1/nothing", ["x-api-key", "KEY"])} | 404
  the root | ${get("/")} | 200
  the root in a browser | ${get("/", ["Accept", "text/html,application/xhtml+xml;q=0.9"])} | 200
  the root with slashes | ${get("//")} | 200
  the documentation with a slash | ${get("/docs/")} | 200
  the documentation with a query | ${get("/docs?x=1")} | 200
  health with a query | ${get("/health?x=1&y")} | 200
  a slash too many | ${get("/v1/account/?x=1", ["x-api-key", "KEY"])} | 308
  two slashes too many | ${get("/health//")} | 308
  a slash after an address in the path | ${get("/v1/activity/j%C3%BCrgen%2Bnews%40b%C3%BCcher.example/", ["x-api-key", "KEY"])} | 308
  a slash after a body | ${{ ...post(aKey, JSON_TYPE), url: "/v1/api-keys/" }} | 308
  a slash after what is no route | ${get("/v1/nothing/")} | 404
  another server's name and a slash | ${get("//evil.example/")} | 404
  a wrong method with a slash | ${{ method: "PUT", url: "/v1/api-keys/" }} | 405
  a wrong method | ${{ method: "PUT", url: "/v1/api-keys" }} | 405
  a method without a route | ${{ method: "PATCH", url: "/health" }} | 405
`)("Lambda and the local server answer %s the same", async (_case, sent, status) => {
  const [throughLambda, throughServer] = await whenSentBothWays(sent, endpoints);

  expect(throughServer).toEqual(throughLambda);
  expect(throughLambda?.status).toBe(status);
});

const whenSentBothWays = async (sent: WireRequest, listed: readonly Endpoint[]) => {
  const answers = [];
  for (const via of [viaLambda, viaServer]) {
    const ctx = await given({ balance: 10 });
    const { world, liveKey, account } = ctx;
    await givenKeyWithOddId(world, account);
    await whenVerified(world, liveKey, { email: "slow@x.com" }, "used");
    await whenWorked(ctx);
    await whenBatched(world, liveKey, { emails: ["used@x.com"] }, "used");
    await whenPut(world, FILE_KEY, formatCsv(createEmails(2)));
    const { token } = await givenSession(world, account);
    const headers = sent.headers?.map(
      ([name, value]) => [name, value.replace("KEY", liveKey).replace("SESSION", token)] as const,
    );
    answers.push(toComparable(await via(world, { ...sent, ...(headers && { headers }) }, listed)));
  }
  return answers;
};

const givenSession = async (world: AppWorld, account: string) => {
  const first = { kind: "first", account, role: "owner", invitedBy: null } as const;
  const { invitation } = await invite(world, first);
  return acceptInvitation(world, invitation, { name: "Ada" });
};

/** As an id would look if addresses were ids: what API Gateway decodes must not be decoded twice. */
const givenKeyWithOddId = async (world: AppWorld, account: string) => {
  const odd = { ...world, newId: () => "key_a+b@c" };
  await createKey(odd, { account, name: "Odd", mode: "live", scopes: null });
};

const READ = [
  ...endpoints
    .filter(({ route }) => route.startsWith("GET "))
    .map(({ route }) => route.slice("GET ".length).replace(/\{[^}]+\}/, "job_1")),
  "/",
  "/docs",
  "/openapi.json",
];

test.each(READ)(
  "HEAD %s answers as GET without the body, through Lambda and through the local server",
  async (url) => {
    const key = ["x-api-key", "KEY"] as const;
    const [got] = await whenSentBothWays(get(url, key), endpoints);
    const heads = await whenSentBothWays({ ...get(url, key), method: "HEAD" }, endpoints);

    for (const head of heads) {
      expect(head).toMatchObject({ status: got?.status, headers: got?.headers });
      expect(head.body).toBe("");
    }
  },
);

test("HEAD answers 405 with the allowed methods when the route has no GET", async () => {
  const [head] = await whenSentBothWays({ method: "HEAD", url: "/v1/verify" }, endpoints);

  expect(head).toMatchObject({ status: 405, headers: { allow: "POST" } });
});

test("a redirect leads to the path of the route, with the query", async () => {
  const [moved] = await whenSentBothWays(
    get("/v1/activity/a%2Bc%40x.example/?x=1&y=%20"),
    endpoints,
  );

  expect(moved?.headers).toMatchObject({
    location: "/v1/activity/a%2Bc%40x.example?x=1&y=%20",
  });
});

test("a body with a __proto__ field answers 400 through Lambda and through the local server", async () => {
  const { world, liveKey } = await given();
  const sent = post(aKey.replace("{", '{"__proto__":{"mode":"live"},'), JSON_TYPE, [
    "x-api-key",
    liveKey,
  ]);

  expect(await viaLambda(world, sent)).toMatchObject({ status: 400 });
  expect(await viaServer(world, sent)).toMatchObject({ status: 400 });
});

const { contentType, bytes } = await encodeForm([
  { name: "email_column", content: "E-Mail" },
  { name: "file", fileName: "Ann's – list.csv", content: "E-Mail\r\nann@example.com\r\n" },
]);
const text = `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n--b--\r\n`;
const FORM = ["content-type", contentType] as const;
const TEXT_FORM = ["content-type", "multipart/form-data; boundary=b"] as const;
const KEY = ["x-api-key", "KEY"] as const;
const form = (body: string | Buffer, ...headers: WireRequest["headers"] & {}): WireRequest => ({
  ...post(body, ...headers),
  url: "/v1/sample/form",
});

const fileForm = (body: string | Buffer, ...headers: WireRequest["headers"] & {}): WireRequest => ({
  ...form(body, ...headers),
  url: "/v1/verify/file",
});

test.each(asRows<[string, WireRequest, number]>`
  a form | ${form(bytes, FORM, KEY)} | 202
  a form of plain text | ${form(text, TEXT_FORM, KEY)} | 202
  a form by another spelling | ${form(text, ["Content-Type", 'Multipart/Form-Data;Boundary="b"'], KEY)} | 202
  JSON where a form is taken, too | ${form('{"action":"x"}', JSON_TYPE, KEY)} | 202
  wrong JSON where a form is taken, too | ${form('{"acton":"x"}', JSON_TYPE, KEY)} | 400
  another type where a form is taken | ${form("a=x", ["content-type", "application/x-www-form-urlencoded"], KEY)} | 400
  a form where none is taken | ${post(bytes, FORM, KEY)} | 400
  a form with a query | ${{ ...form(bytes, FORM, KEY), url: "/v1/sample/form?a=x" }} | 400
  half a form | ${form(bytes.subarray(0, 200), FORM, KEY)} | 400
  a form of nothing | ${form("", FORM, KEY)} | 400
  a form without a body | ${{ method: "POST", url: "/v1/sample/form", headers: [FORM, KEY] }} | 400
  a form without a boundary | ${form(text, ["content-type", "multipart/form-data"], KEY)} | 400
  no key and half a form | ${form(bytes.subarray(0, 200), FORM)} | 401
  a file in a form | ${fileForm(bytes, FORM, KEY)} | 202
  a file in a form under an Idempotency-Key | ${fileForm(bytes, FORM, KEY, ["Idempotency-Key", "k"])} | 202
  a form without a file | ${fileForm(text, TEXT_FORM, KEY)} | 400
  half a form with a file | ${fileForm(bytes.subarray(0, 200), FORM, KEY)} | 400
  no key and a file in a form | ${fileForm(bytes, FORM)} | 401
`)("Lambda and the local server read %s the same", async (_case, sent, status) => {
  const [throughLambda, throughServer] = await whenSentBothWays(sent, [
    ...endpoints,
    fakeFormEndpoint,
  ]);

  expect(throughServer).toEqual(throughLambda);
  expect(throughLambda?.status).toBe(status);
});

test("Lambda and the local server read every byte of a form, and pass on the headers of the response", async () => {
  for (const answer of await whenSentBothWays(form(bytes, FORM, KEY), [fakeFormEndpoint])) {
    expect(answer.headers["retry-after"]).toBe("7");
    expect(answer.body).toEqual({
      success: true,
      data: {
        parts: [
          { name: "email_column", fileName: null, text: "E-Mail" },
          {
            name: "file",
            fileName: "Ann's – list.csv",
            text: "E-Mail\r\nann@example.com\r\n",
          },
        ],
      },
    });
  }
});

async function* rows(...pieces: readonly (string | Uint8Array)[]) {
  yield* pieces;
}
const é = Buffer.from("é");

test.each(asRows<[string, () => AsyncIterable<string | Uint8Array>, number, unknown]>`
  a streamed response | ${() => rows("email\r\n", "a@b.c\r\n")} | 200 | ${"email\r\na@b.c\r\n"}
  a response of bytes, cut inside a letter | ${() => rows(é.subarray(0, 1), é.subarray(1))} | 200 | é
  an empty streamed response | ${() => rows()} | 200 | ${""}
  a streamed response with empty pieces | ${() => rows("", new Uint8Array(), "x", "")} | 200 | x
  a response that fails before its first piece | ${() => failAfter()} | 503 | ${expect.objectContaining({ success: false })}
`)("Lambda and the local server send %s the same", async (_case, stream, status, body) => {
  const listed = [createFakeStreamEndpoint(stream)];
  const answers = await whenSentBothWays(get("/v1/sample/stream", KEY), listed);
  const [throughLambda, throughServer] = answers;

  expect(throughServer).toEqual(throughLambda);
  expect(throughLambda).toMatchObject({ status, body });
});

test("a CSV beyond Lambda's limit leads to an object with the same bytes", async () => {
  const ctx = await given();
  const { world, liveKey, blobs } = ctx;
  const result = await verifyEmail(world, "ann@x.com");
  // 80 rows are less than a page, and each is longer than any that was ever verified.
  const rows = createRows({ ...result, reason: "x".repeat(60_000) }, 80);
  await givenJobOf(ctx, [rows.slice(0, 50), rows.slice(50)], { name: "Größe" });
  const sent = get("/v1/jobs/job_1/download", ["x-api-key", liveKey]);

  const throughServer = await viaServer(world, sent);
  const throughLambda = await viaLambda(world, sent);

  const [, key = ""] = /^memory:get\/(.*)\?/.exec(String(throughLambda.headers["location"])) ?? [];
  const object = await blobs.get(key);
  const bytes = Buffer.concat(await Array.fromAsync(object?.content ?? []));
  expect([throughServer.status, throughLambda.status]).toEqual([200, 303]);
  expect(key).toMatch(/^exports\/job_1\//);
  expect(bytes.length).toBeGreaterThan(4_500_000);
  expect(bytes.equals(Buffer.from(throughServer.body as string))).toBe(true);
  expect(throughLambda.headers["content-disposition"]).toBe(
    throughServer.headers["content-disposition"],
  );
});
