import { openapi } from "@mailproof/api/openapi/openapi";
import { expect, test } from "vitest";
import { judgeBy } from "../api/judge.ts";
import { HOUSE_REQUESTS, play } from "./play.ts";

const HOUSES = 10;
const seeds = Array.from({ length: HOUSES }, (_, at) => at + 1);
const seen = new Set<string>();

// 5,000 in all. Many more: npm run fuzz -- --n 100000
test.each(seeds)(
  "500 drawn requests are answered as documented, and none that is refused costs anything: seed %i",
  async (seed) => {
    const { wrong, answers } = await play(seed, HOUSE_REQUESTS);

    for (const answer of answers.keys()) seen.add(answer);
    expect(wrong).toEqual([]);
  },
);

test("together they reached a success of every operation", () => {
  const document: any = openapi("http://127.0.0.1");
  const routes = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const done = new Set(
    [...seen].filter((one) => / 2\d\d$/.test(one)).map((one) => one.slice(0, -4)),
  );

  expect(routes.filter((route) => !done.has(route))).toEqual([]);
});

const answered = (status: number, body: unknown, headers = {}) => ({
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
  checks: { table: "ok", queue: "ok", blobs: "ok" },
};

test.each([
  ["what is promised", answered(200, health), 0],
  ["another status", answered(418, health), 1],
  ["a field too few", answered(200, { ...health, version: undefined }), 1],
  ["a word that is not in the list", answered(200, { ...health, status: "fine" }), 1],
  ["what is no moment", answered(200, { ...health, timestamp: "today" }), 1],
  ["another type", answered(200, health, { "content-type": "text/html" }), 1],
  ["a header too few", answered(200, health, { "x-request-id": undefined }), 1],
])("the judge knows %s", (_case, answer, faults) => {
  expect(judgeBy(openapi("http://127.0.0.1"))("GET", "/health", answer)).toHaveLength(faults);
});
