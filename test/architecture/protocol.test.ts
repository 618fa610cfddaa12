import { globSync, readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { getFailureMessage, LOOK_UP_ROUTES, STATUS } from "@mailproof/api/http/http-failure";
import { FAILURE_CODES, Failure, type LookUpOperation } from "@mailproof/core/lib/failure";
import { describe, expect, test } from "vitest";

// Core states what failed, what it costs and when to retry. packages/api/src/http maps that to HTTP.

const files = globSync("packages/core/src/**/*.ts").toSorted();

/** Files that send HTTP requests to other servers, or describe such requests. */
const MAY_NAME: Readonly<Record<string, string>> = {
  "packages/core/src/ports/https.ts": "the port to addresses of others",
  "packages/core/src/deliverability/document-fetcher.ts": "fetches that policy, and a logo",
  "packages/mail/src/hints/bimi.ts": "reads what a server sent in place of a logo",
  "packages/mail/src/message/header-summary.ts": "reads the fields of a mail",
  "packages/mail/src/message/parse/parts.ts": "reads the fields of a mail's parts",
  "packages/core/src/deliverability/ses-mail/receive-ses-mail.ts": "reads the fields of a mail",
  "packages/mail/src/hints/mta-sts.ts": "reads an MTA-STS policy (RFC 8461)",
  "packages/core/src/webhooks/retry-policy.ts": "reads the response of a webhook's receiver",
  "packages/core/src/webhooks/deliver-event.ts": "records why a webhook was disabled",
  "packages/core/src/webhooks/send.ts": "calls the receiver of a webhook",
  "packages/core/src/webhooks/signature.ts": "signs a delivery (Standard Webhooks)",
};

const HTTP: Readonly<Record<string, RegExp>> = {
  "a route": /\b(?:GET|POST|PUT|PATCH|DELETE) \/|["'`\s]\/v\d+\//,
  "a header":
    /\bheaders\??:|\.headers\b|["'](?:allow|authorization|content-type|location|retry-after|www-authenticate|x-[\w-]+)["']/i,
  "a status code":
    /\bHTTP\b|\bstatus(?:Code)?\b.{0,5}\b[1-5]\d\d\b|\b[A-Z_]{4,}: [45]\d\d,|\b(?:an?|answered) (?:40\d|410|413|429|500)\b/,
};

const findNamed = (text: string): string[] =>
  Object.entries(HTTP).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []));

const listHttpNames = (file: string) => findNamed(readFileSync(file, "utf8"));

describe("core without HTTP", () => {
  test.each([
    ["a route", 'const HISTORY = "GET /v1/jobs";'],
    ["a route", "// Read it at /v1/jobs."],
    ["a header", 'options: { headers: { "retry-after": seconds } }'],
    ["a header", "this.headers = options.headers;"],
    ["a status code", "  NOT_FOUND: 404,"],
    ["a status code", "/** Becomes an opaque 500. */ /** A key without the scope gets a 403. */"],
    ["a status code", "if (failure.status === 404) return;"],
  ])("the rules find %s in %s", (name, text) => {
    expect(findNamed(text)).toContain(name);
  });

  test("no file of core names a route, a header or a status code", () => {
    const found = files
      .filter((file) => !(file in MAY_NAME))
      .flatMap((file) => listHttpNames(file).map((name) => `${file} names ${name}`));

    expect(files.length).toBeGreaterThan(200);
    expect(found).toEqual([]);
  });

  test("every exempt file of core names a route, a header or a status code", () => {
    expect(Object.keys(MAY_NAME).filter((file) => listHttpNames(file).length === 0)).toEqual([]);
  });
});

describe("the API maps failures to HTTP", () => {
  test("each failure code maps to a status of a failure", () => {
    expect(Object.keys(STATUS)).toEqual([...FAILURE_CODES]);
    expect(Object.values(STATUS).filter((status) => status < 400 || status > 599)).toEqual([]);
  });

  test("the look-up route of an operation equals its endpoint's route", () => {
    const routeById = Object.fromEntries(endpoints.map(({ id, route }) => [id, route]));

    expect(routeById).toMatchObject(LOOK_UP_ROUTES);
  });

  test.each(Object.entries(LOOK_UP_ROUTES))(
    "a response mentions, in place of the operation %s, its route %s",
    (id, route) => {
      const lookAt = id as LookUpOperation;
      const failure = new Failure("INTERNAL", "unknown", "It broke.", { lookAt });

      expect(getFailureMessage(failure)).toBe(
        `It broke. Do not assume a refund; check ${route} before sending this again.`,
      );
    },
  );
});
