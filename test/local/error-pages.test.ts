import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { endpoints } from "@mailproof/api/endpoints";
import { getFailureMessage, getStatus, STATUS } from "@mailproof/api/http/http-failure";
import { ERRORS } from "@mailproof/api/openapi/errors";
import { createClient } from "@mailproof/client/client";
import {
  FAILURE_CODES,
  Failure,
  type FailureCode,
  getMoneySentence,
  type MoneyOutcome,
} from "@mailproof/core/lib/failure";
import { openWriters } from "@mailproof/docs-site/texts";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { formatError } from "@mailproof/local/cli/run-command";
import { createApiServer } from "@mailproof/local/server/server";
import { describe, expect, test } from "vitest";
import { DOMAIN_NAME, toBytes, toEvent } from "../../infra/gateway-event.ts";
import { given, givenWorld } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createContext } from "../aws/events.ts";
import { whenListening } from "../servers/listening.ts";

const PAGE = openWriters()["/docs/errors"]?.() ?? "";

const escapeHtml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The page's part about a code, without its markup. */
const readParagraph = (page: string, code: string): string => {
  const [, text = ""] = page.split(` id="${code}">`);
  return text.split(/<h\d|<\/section>/, 1)[0]?.replaceAll(/<[^>]*>/g, "") ?? "";
};

test.each(FAILURE_CODES)(
  "the manual's paragraph about %s contains its cause, its money and its remedy",
  (code) => {
    const paragraph = readParagraph(PAGE, code);

    const { means, money, remedy } = ERRORS[code];
    expect(paragraph).toContain(`${code} ${STATUS[code]}`);
    for (const text of [means, remedy, ...money.map((one) => getMoneySentence(one, ""))])
      expect(paragraph).toContain(escapeHtml(text.split(/ GET|`|;/)[0] ?? ""));
  },
);

const THROWN = /new (?:Http)?Failure\(\s*"([A-Z_]+)",\s*"(\w+)"/g;

test("a failure states the same about the money as the manual's paragraph of its code", () => {
  const files = globSync("packages/{core,api,mcp,local,functions}/src/**/*.ts");
  const thrown = files.flatMap((file) => [...readFileSync(file, "utf8").matchAll(THROWN)]);
  const unsaid = thrown.filter(
    ([, code, money]) => !ERRORS[code as FailureCode].money.includes(money as MoneyOutcome),
  );

  expect(thrown.length).toBeGreaterThan(60);
  expect(unsaid.map(([, code, money]) => `${code} ${money}`)).toEqual([]);
});

type Refused = { readonly error?: { readonly code: string; readonly doc_url?: string } };

/** Requests that a route refuses: without a key, with an unknown field, and with a body that is not JSON. */
const WAYS: readonly ((key: string) => RequestInit)[] = [
  () => ({}),
  (key) => ({ headers: { "x-api-key": key, "content-type": "application/json" }, body: "{" }),
  (key) => ({
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ unknown_field: 1 }),
  }),
];

test("every refused request links to a paragraph that the server serves", async () => {
  const { port, liveKey } = await whenListening(...endpoints);
  const base = `http://127.0.0.1:${port}`;
  const page = await (await fetch(`${base}/docs/errors`)).text();
  const seen = new Set<string>();
  for (const { route } of [...endpoints, { route: "GET /nowhere" }, { route: "PUT /v1/verify" }])
    for (const way of WAYS) {
      const [method = "", path = ""] = route.replaceAll(/\{\w+\}/g, "x").split(" ");
      const { body, ...init } = way(liveKey);
      const hasBody = method !== "GET" && body !== undefined;
      const response = await fetch(`${base}${path}?unknown_field=1`, {
        ...init,
        method,
        ...(hasBody && { body }),
      });
      if (response.ok) continue;
      const { error } = (await response.json()) as Refused;
      seen.add(error?.code ?? "");
      expect([route, error?.doc_url]).toEqual([route, `${base}/docs/errors#${error?.code}`]);
      expect(page).toContain(`id="${error?.code}"`);
    }

  expect([...seen]).toEqual(
    expect.arrayContaining(["INVALID_REQUEST", "METHOD_NOT_ALLOWED", "NOT_FOUND", "UNAUTHORIZED"]),
  );
});

test("a failure on AWS links to the documents of the called host, even without a route", async () => {
  const { world } = await given();
  const event = toEvent({ method: "GET", url: "/nowhere" });

  const none = await createFallbackHandler(world)(event, createContext());
  const { error } = await send(world, "GET /v1/account");

  const toDocUrl = (code: string) => `https://${DOMAIN_NAME}/docs/errors#${code}`;
  expect(JSON.parse(toBytes(none).toString()).error.doc_url).toBe(toDocUrl("NOT_FOUND"));
  expect(error.doc_url).toBe(toDocUrl("UNAUTHORIZED"));
});

test("a refused tool call links to the manual's paragraph about the error", async () => {
  const { port, testKey } = await whenListening(...endpoints);
  const base = `http://127.0.0.1:${port}`;
  const response = await fetch(`${base}/mcp`, {
    method: "POST",
    headers: {
      "x-api-key": testKey,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "get_job", arguments: { id: "job_none" } },
    }),
  });

  expect(await response.text()).toContain(`"doc_url":"${base}/docs/errors#NOT_FOUND"`);
});

// What the command line prints about the money is what the service answered, for each code and each outcome of it.

const ANSWERS = Object.values(ERRORS).flatMap(({ money, example }) =>
  money.map((outcome) => ({ code: example.code, outcome, example })),
);

const refuseWith = ({ example, outcome }: (typeof ANSWERS)[number]) => {
  const { code, what, details } = example;
  const failure = new Failure(code, outcome, what, details === undefined ? {} : { details });
  const body = {
    code,
    message: getFailureMessage(failure),
    money: outcome,
    doc_url: `https://api.example.com/docs/errors#${code}`,
  };
  return { status: getStatus(failure), body };
};

const findError = async ({ status, body }: ReturnType<typeof refuseWith>) => {
  const answer = async () => Response.json({ success: false, error: body }, { status });
  const client = createClient({
    baseUrl: "https://api.example.com",
    key: "k",
    retries: 0,
    fetch: answer,
  });
  return client.verifyEmail({ email: "ann@example.com" }).then(
    () => undefined,
    (error: unknown) => error,
  );
};

describe.each(ANSWERS)("the command line with $code and $outcome", (answer) => {
  test("the command prints only the service's statement about the money", async () => {
    const refused = refuseWith(answer);

    const printed = formatError(await findError(refused));

    const [statement, ...more] = printed.split("\n");
    expect(statement).toBe(refused.body.message);
    expect(more.length).toBe(answer.outcome === "retry_same_key" ? 1 : 0);
  });
});

const whenRequested = async (path: string, init: RequestInit) => {
  const { world } = givenWorld();
  const listening = createApiServer(world, () => undefined).listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
  listening.close();
  return answer;
};

test("a preflight allows our methods and headers to any page", async () => {
  const { status, headers } = await whenRequested("/v1/api-keys", {
    method: "OPTIONS",
    headers: { origin: "https://app.example.com", "access-control-request-method": "POST" },
  });

  expect(status).toBe(204);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, DELETE, OPTIONS");
  expect(headers.get("access-control-allow-headers")).toContain("idempotency-key");
});

test("a refusal allows a page to read its status, request id and rate limit headers", async () => {
  const { status, headers } = await whenRequested("/v1/account", { method: "GET" });

  expect(status).toBe(401);
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("access-control-expose-headers")).toContain("x-request-id");
});

test("a response never allows a page to send cookies", async () => {
  const { headers } = await whenRequested("/health", { method: "GET" });

  expect(headers.get("access-control-allow-credentials")).toBeNull();
});
