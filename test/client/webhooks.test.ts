import { verifyWebhook, type WebhookInput } from "@mailproof/client/webhooks";
import { generateSecret, signHeaders } from "@mailproof/core/webhooks/signature";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { asRows } from "../runner/as-rows.ts";

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
