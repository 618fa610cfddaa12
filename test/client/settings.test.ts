import { readFileSync } from "node:fs";
import { endpoints } from "@mailproof/api/endpoints";
import { createClient } from "@mailproof/client/client";
import { createError, type MoneyOutcome as Ours } from "@mailproof/client/errors";
import { OPERATIONS } from "@mailproof/client/operations";
import type { ClientOptions } from "@mailproof/client/options";
import { verifyWebhook, type WebhookInput } from "@mailproof/client/webhooks";
import { type MoneyOutcome, withMoneySentence } from "@mailproof/core/lib/failure";
import { generateSecret, signHeaders } from "@mailproof/core/webhooks/signature";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, test, vi } from "vitest";
import { BUILT, buildClient } from "../../scripts/made/client.ts";
import { buildClientTypes } from "../../scripts/made/client-types.ts";
import { asRows } from "../runner/as-rows.ts";
import { createDataResponse, whenAnswered } from "./fake-fetch.ts";

afterEach(() => vi.unstubAllEnvs());

test.each([
  "api.example.com",
  "api.example.com:8787",
  "localhost:8787",
  "//api.example.com",
  "/v1",
  "ftp://api.example.com",
  "https://",
  "https://ada:secret@api.example.com",
  "https://api.example.com?key=1",
  "https://api.example.com/#top",
  "",
])("createClient throws a TypeError for the base URL %j before any request", (baseUrl) => {
  expect(() => createClient({ baseUrl, key: "k" })).toThrow(
    new TypeError(
      "baseUrl must be an http or https URL such as https://api.example.com, without user name, query or fragment.",
    ),
  );
});

test.each(["", " ", "mp_live_abc\n", "ключ"])(
  "createClient throws a TypeError for the key %j without repeating the key",
  (key) => {
    expect(() => createClient({ baseUrl: "https://api.example.com", key })).toThrow(
      new TypeError("key must be printable ASCII characters without spaces."),
    );
  },
);

test.each(["", "a b", "a\nb", "ключ"])(
  "a client call throws a TypeError for the Idempotency-Key %j and sends nothing",
  async (idempotencyKey) => {
    const { client, sent } = whenAnswered([]);

    const call = client.verifyEmail({ email: "a@x.com" }, { idempotencyKey });

    await expect(call).rejects.toThrow(
      new TypeError("idempotencyKey must be printable ASCII characters without spaces."),
    );
    expect(sent).toEqual([]);
  },
);

/** Where a client made with these options sends a request, and with which key. */
const whenRequested = async (options?: Partial<ClientOptions>) => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (url: string, { headers }: RequestInit) => {
    sent.push([url, new Headers(headers).get("authorization")]);
    return createDataResponse({});
  });
  try {
    await createClient(options).getAccount();
  } finally {
    vi.unstubAllGlobals();
  }
  return sent;
};

test("the client reads MAILPROOF_API and MAILPROOF_KEY when the options are absent", async () => {
  vi.stubEnv("MAILPROOF_API", "https://env.example.com");
  vi.stubEnv("MAILPROOF_KEY", "from_env");
  const [baseUrl, key] = ["https://own.example.com", "own"];

  const sent = [
    ...(await whenRequested()),
    ...(await whenRequested({ baseUrl })),
    ...(await whenRequested({ key })),
    ...(await whenRequested({ baseUrl, key })),
  ];

  expect(sent).toEqual([
    ["https://env.example.com/v1/account", "Bearer from_env"],
    ["https://own.example.com/v1/account", "Bearer from_env"],
    ["https://env.example.com/v1/account", "Bearer own"],
    ["https://own.example.com/v1/account", "Bearer own"],
  ]);
});

test("a client without an option or a setting throws a TypeError that contains both names", () => {
  vi.stubEnv("MAILPROOF_API", undefined);
  vi.stubEnv("MAILPROOF_KEY", undefined);

  expect(() => createClient({ key: "k" })).toThrow(
    new TypeError("baseUrl is missing: pass it, or set MAILPROOF_API."),
  );
  expect(() => createClient({ baseUrl: "https://api.example.com" })).toThrow(
    new TypeError("key is missing: pass it, or set MAILPROOF_KEY."),
  );
});

test("the client reads no settings on a host without a process environment, such as a browser", () => {
  vi.stubGlobal("process", undefined);
  try {
    expect(() => createClient({ key: "k" })).toThrow("baseUrl is missing");
  } finally {
    vi.unstubAllGlobals();
  }
});

test.each(Object.entries(buildClientTypes()))(
  "the client's file %s agrees with the endpoints",
  (file, source) => {
    expect(readFileSync(file, "utf8"), `run: npx node scripts/write.ts client`).toBe(source);
  },
);

test("built.json contains the client's current sources", async () => {
  expect(readFileSync(BUILT, "utf8"), "run: npx node scripts/write.ts client").toBe(
    await buildClient(),
  );
});

test("the client offers every endpoint as an operation", () => {
  const routes = new Set(Object.values(OPERATIONS).map(({ route }) => route));

  expect([...routes].toSorted()).toEqual(endpoints.map(({ route }) => route as string).toSorted());
});

test("the client sends a paid call with a key, or repeats it only when nothing was done", () => {
  const priced = endpoints
    .filter(({ price }) => price !== null)
    .map(({ route }) => route as string);
  const careful = Object.values(OPERATIONS).filter(
    ({ repeat, paid }) => repeat === "keyed" || paid,
  );

  expect(new Set(careful.map(({ route }) => route))).toEqual(new Set(priced));
  expect(careful.filter(({ repeat }) => repeat === undefined)).toEqual([]);
});

test("the client declares the service's outcomes for money, and no others", () => {
  const ours = (word: MoneyOutcome): Ours => word;
  const theirs = (word: Ours): MoneyOutcome => word;

  expect(theirs(ours("kept"))).toBe("kept");
});

test.each(["nothing_charged", "refunded"] as const)(
  "a client error with %s ends with the service's sentence",
  (money) => {
    const { message } = createError("Lost.", { code: "NETWORK", money });

    expect(message).toBe(withMoneySentence("Lost.", money));
  },
);

const NOW = new Date("2026-11-21T12:00:00.000Z");
const SECRET = generateSecret({ randomBytes: (count) => new Uint8Array(count).fill(7) });
const OTHER = generateSecret({ randomBytes: (count) => new Uint8Array(count).fill(8) });
const ID = "evt_1";
const EVENT = {
  id: ID,
  type: "webhook.test",
  created_at: NOW.toISOString(),
  data: { webhook_id: "w" },
};
const BODY = JSON.stringify(EVENT);

const sentAt = (at: Date, secret = SECRET) => ({
  ...signHeaders({ id: ID, body: BODY, at }, secret),
});
const whenVerified = (more: Partial<WebhookInput> = {}) =>
  verifyWebhook({ body: BODY, headers: sentAt(NOW), secret: SECRET, now: NOW, ...more });

const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1_000);
const { "webhook-signature": SIGNATURE = "", ...UNSIGNED } = sentAt(NOW);

test("verifyWebhook accepts a delivery that the service signs", async () => {
  expect(await whenVerified()).toEqual(EVENT);
});

test("verifyWebhook accepts a delivery that another library of the standard signs", async () => {
  const signature = new Webhook(SECRET).sign(ID, NOW, BODY);

  expect(await whenVerified({ headers: { ...UNSIGNED, "webhook-signature": signature } })).toEqual(
    EVENT,
  );
});

test.each(asRows<[string, Partial<WebhookInput>]>`
  headers of fetch | ${{ headers: new Headers(sentAt(NOW)) }}
  headers in upper case | ${{ headers: Object.fromEntries(Object.entries(sentAt(NOW)).map(([name, value]) => [name.toUpperCase(), value])) }}
  lists as headers | ${{ headers: { ...UNSIGNED, "webhook-signature": [SIGNATURE] } }}
  a body of bytes | ${{ body: new TextEncoder().encode(BODY) }}
  several signatures | ${{ headers: { ...UNSIGNED, "webhook-signature": `v1,AAAA v1a,x ${SIGNATURE}` } }}
  an old and a new secret | ${{ secret: [OTHER, SECRET] }}
  a delivery of five minutes ago | ${{ headers: sentAt(ago(300)) }}
  a clock that is five minutes slow | ${{ headers: sentAt(ago(-300)) }}
  an invented callback secret | ${{ secret: "a made-up secret", headers: sentAt(NOW, "a made-up secret") }}
`)("verifyWebhook accepts %s", async (_, more) => {
  expect(await whenVerified(more)).toEqual(EVENT);
});

test.each([
  "whsec_my-secret",
  "whsec_",
  "whsec_ab",
  "whsec_hello world",
  "whsec_%%%",
  "whsec_YWJj-_",
  "whsec_YWJjZA",
  "whsec_YWJjZA=",
  "whsec_YWJjZA==",
  "whsec_YWJj ZA==",
  "whsec_====",
  "🔑",
])("verifyWebhook accepts a callback signed with the secret %j", async (secret) => {
  expect(await whenVerified({ secret, headers: sentAt(NOW, secret) })).toEqual(EVENT);
});

test.each(asRows<[string, Partial<WebhookInput>, string]>`
  another body | ${{ body: `${BODY} ` }} | INVALID_SIGNATURE
  another secret | ${{ secret: OTHER }} | INVALID_SIGNATURE
  another id | ${{ headers: { ...sentAt(NOW), "webhook-id": "evt_2" } }} | INVALID_SIGNATURE
  another time | ${{ headers: { ...sentAt(NOW), "webhook-timestamp": String(NOW.getTime() / 1000 - 1) } }} | INVALID_SIGNATURE
  half a signature | ${{ headers: { ...UNSIGNED, "webhook-signature": SIGNATURE.slice(0, -8) } }} | INVALID_SIGNATURE
  a signature of another version | ${{ headers: { ...UNSIGNED, "webhook-signature": SIGNATURE.replace("v1", "v2") } }} | INVALID_SIGNATURE
  no signature | ${{ headers: UNSIGNED }} | MISSING_HEADER
  no headers | ${{ headers: {} }} | MISSING_HEADER
  a delivery of six minutes ago | ${{ headers: sentAt(ago(360)) }} | TOO_OLD
  a delivery from the future | ${{ headers: sentAt(ago(-360)) }} | TOO_NEW
  a malformed time | ${{ headers: { ...sentAt(NOW), "webhook-timestamp": "soon" } }} | INVALID_TIMESTAMP
  an empty secret | ${{ secret: "" }} | INVALID_SECRET
  an empty list of secrets | ${{ secret: [] }} | INVALID_SIGNATURE
`)("verifyWebhook refuses %s", async (_, more, code) => {
  await expect(whenVerified(more)).rejects.toMatchObject({ name: "WebhookError", code });
});

test("verifyWebhook refuses signed text that is not JSON as UNREADABLE", async () => {
  const body = "hello";
  const headers = { ...signHeaders({ id: ID, body, at: NOW }, SECRET) };

  await expect(whenVerified({ body, headers })).rejects.toMatchObject({ code: "UNREADABLE" });
});
