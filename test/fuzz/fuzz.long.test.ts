import { isObject } from "@mailproof/api/http/parse";
import { openapi } from "@mailproof/api/openapi/openapi";
import { call, type ToolArguments } from "@mailproof/mcp/call";
import { type Tool, tools } from "@mailproof/mcp/tools";
import { expect, test } from "vitest";
import { createJudge } from "../api/judge.ts";
import { given } from "../app/given.ts";
import { BASE_URL } from "../app/send.ts";
import { asRows } from "../runner/as-rows.ts";
import { CONTEXT_REQUESTS, play } from "./play.ts";
import { type Chances, createChances } from "./random.ts";
import { drawFitting, type Pools, SPOILED } from "./shapes.ts";

const APPS = 20;
const seeds = Array.from({ length: APPS }, (_, at) => at + 20);
const seen = new Set<string>();
const failed = new Set<string>();

// 10,000 in all. Many more: npx node test/fuzz/cli.ts --n 100000
test.each(seeds)(
  "the service answers 500 drawn requests as documented, and charges for no refused one: seed %i",
  async (seed) => {
    const { wrong, answers, codes } = await play(seed, CONTEXT_REQUESTS);

    for (const answer of answers.keys()) seen.add(answer);
    for (const code of codes) failed.add(code);
    expect(wrong).toEqual([]);
  },
);

test("the drawn requests reach a success of every operation", () => {
  const document: any = openapi("http://127.0.0.1");
  const routes = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const done = new Set(
    [...seen].filter((one) => / 2\d\d$/.test(one)).map((one) => one.slice(0, -4)),
  );

  expect(routes.filter((route) => !done.has(route))).toEqual([]);
});

test("the drawn requests cause every documented failure", () => {
  const promised = [...JSON.stringify(openapi("http://127.0.0.1")).matchAll(CODES)].flatMap(
    ([, codes = ""]) => codes.replaceAll('"', "").split(","),
  );

  expect([...failed].filter((code) => !promised.includes(code))).toEqual([]);
  expect(promised.filter((code) => !failed.has(code) && !SELDOM_REACHED.includes(code))).toEqual(
    [],
  );
});

/** Of failures: the codes of advice are in lower case. */
const CODES = /"code":\{"type":"string","enum":\[("[A-Z][^\]]+)\]/g;
/** Two at the same time, rows that are gone, and a repeat of what was deleted: drawn requests bring few of them. */
const SELDOM_REACHED = ["REQUEST_IN_PROGRESS", "NOT_READY", "RESULT_DELETED"];

const createAnswer = (status: number, body: unknown, headers = {}) => ({
  status,
  headers: {
    "content-type": "application/json; charset=utf-8",
    "x-request-id": "req_1",
    ...headers,
  },
  text: JSON.stringify(body),
});
const health = {
  status: "healthy",
  timestamp: "2026-11-21T00:00:00.000Z",
  service: "mailproof",
  version: "1.0.0",
  lists: { version: "2026.11.23", age_days: 3 },
  reach: {
    state: "open",
    message: "Mail servers can be asked.",
    refused_by: [],
    measured_at: "2026-11-21T00:00:00.000Z",
  },
  checks: { table: "ok", queue: "ok", blobs: "ok", dns: "ok", mail_providers: "ok" },
};

test.each(asRows`
  a documented response | ${createAnswer(200, health)} | 0
  another status | ${createAnswer(418, health)} | 1
  a missing field | ${createAnswer(200, { ...health, version: undefined })} | 1
  an extra field | ${createAnswer(200, { ...health, secret: 1 })} | 1
  an extra field in an inner object | ${createAnswer(200, { ...health, checks: { ...health.checks, x: 1 } })} | 1
  a word outside the list | ${createAnswer(200, { ...health, status: "fine" })} | 1
  an invalid time | ${createAnswer(200, { ...health, timestamp: "today" })} | 1
  another type | ${createAnswer(200, health, { "content-type": "text/html" })} | 1
  a missing header | ${createAnswer(200, health, { "x-request-id": undefined })} | 1
`)("the judge recognizes %s", (_case, answer, faults) => {
  expect(createJudge(openapi("http://127.0.0.1"))("GET", "/health", answer)).toHaveLength(faults);
});

test("the judge reports a missing Retry-After on a temporary refusal", () => {
  const errorBody = {
    code: "RATE_LIMITED",
    message: "Nothing was charged.",
    money: "nothing_charged",
    doc_url: "http://127.0.0.1/docs/errors#RATE_LIMITED",
  };
  const body = { success: false, error: errorBody, request_id: "req_1" };
  const counted = {
    "x-ratelimit-limit": "1",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "1",
  };
  const judge = createJudge(openapi("http://127.0.0.1"));

  expect(judge("GET", "/v1/jobs", createAnswer(429, body, counted))).toEqual([
    "the header Retry-After is missing",
  ]);
  expect(
    judge("GET", "/v1/jobs", createAnswer(429, body, { ...counted, "retry-after": "9" })),
  ).toEqual([]);
});

const CALLS = 80;
const POOLS: Pools = new Map([
  ["email", ["ann@example.com", "no-reply@example.com"]],
  ["domain", ["example.com", "nullmx.example.com"]],
  ["sending_ip", ["192.0.2.1"]],
  ["url", ["https://example.com/hook"]],
  ["occurred_at", ["2026-11-20T10:00:00Z"]],
]);

const drawn = (chances: Chances, { listed }: Tool): ToolArguments => {
  const fits = drawFitting({ document: {}, chances, pools: POOLS }, listed.inputSchema);
  const spoil = chances.one(Object.values(SPOILED));
  const args = chances.sometimes(0.5) ? spoil(chances, fits) : fits;
  // What is no object the protocol refuses before any tool is called.
  return (isObject(args) ? args : fits) as ToolArguments;
};

// By no address can a request come with half a letter or an empty part in it; by a tool call it can.
test.each(tools.map((tool, at) => [tool.listed.name, tool, at] as const))(
  "no drawn call of %s finds a bug, and each refused call states the fate of the money",
  async (_name, tool, at) => {
    const { world, liveKey, testKey } = await given({ balance: 1_000, plan: "scale" });
    const chances = createChances(at + 21);

    for (let done = 0; done < CALLS; done++) {
      const args = drawn(chances, tool);
      const key = chances.one([liveKey, testKey]);
      const credentials = { headers: { "x-api-key": key } };
      const { isError, structuredContent } = await call(world, tool, args, credentials, BASE_URL);
      if (!isError) continue;
      expect(structuredContent, `${JSON.stringify(args)}`).toMatchObject({
        error: { code: expect.not.stringMatching("INTERNAL"), money: expect.any(String) },
      });
    }
  },
);
