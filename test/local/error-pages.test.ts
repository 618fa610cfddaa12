import { globSync, readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { STATUS } from "@mailproof/api/http/http-failure";
import { ERRORS } from "@mailproof/api/openapi/errors";
import {
  FAILURE_CODES,
  type FailureCode,
  getMoneySentence,
  type MoneyOutcome,
} from "@mailproof/core/lib/failure";
import { openWriters } from "@mailproof/docs-site/texts";
import { createFallbackHandler } from "@mailproof/functions/fallback-route";
import { expect, test } from "vitest";
import { given } from "../app/given.ts";
import { send } from "../app/send.ts";
import { createContext } from "../aws/events.ts";
import { DOMAIN_NAME, toBytes, toEvent } from "../aws/gateway.ts";
import { whenListening } from "../servers/listening.ts";

const PAGE = openWriters()["/docs/errors"]?.() ?? "";

const escapeHtml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The page's part about a code, without its markup. */
const readParagraph = (page: string, code: string): string => {
  const [, text = ""] = page.split(` id="${code}">`);
  return text.split(/<h\d|<\/section>/, 1)[0]?.replaceAll(/<[^>]*>/g, "") ?? "";
};

test.each(FAILURE_CODES)(
  "the manual's paragraph about %s has its cause, its money and its remedy",
  (code) => {
    const paragraph = readParagraph(PAGE, code);

    const { means, money, remedy } = ERRORS[code];
    expect(paragraph).toContain(`${code} ${STATUS[code]}`);
    for (const text of [means, remedy, ...money.map((one) => getMoneySentence(one, ""))])
      expect(paragraph).toContain(escapeHtml(text.split(/ GET|`|;/)[0] ?? ""));
  },
);

const THROWN = /new (?:Http)?Failure\(\s*"([A-Z_]+)",\s*"(\w+)"/g;

test("a failure says of the money only what the manual's paragraph about its code says", () => {
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

test("every refused request has the address of a paragraph that the server serves", async () => {
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

test("on AWS the paragraph is in the documents of the host that was called, for a route as for none", async () => {
  const { world } = await given();
  const event = toEvent({ method: "GET", url: "/nowhere" });

  const none = await createFallbackHandler(world)(event, createContext());
  const { error } = await send(world, "GET /v1/account");

  const toDocUrl = (code: string) => `https://${DOMAIN_NAME}/docs/errors#${code}`;
  expect(JSON.parse(toBytes(none).toString()).error.doc_url).toBe(toDocUrl("NOT_FOUND"));
  expect(error.doc_url).toBe(toDocUrl("UNAUTHORIZED"));
});

test("a refused call of a tool leads to the paragraph, too", async () => {
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
