import { generateSecret, signHeaders, toSigningKey } from "@mailproof/core/webhooks/signature";
import * as standard from "standardwebhooks";
import * as svix from "svix";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { givenWorld, START } from "../../given.ts";

// Third-party libraries verify what we sign. They use the real clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: START }));
afterEach(() => void vi.useRealTimers());

const BODY = '{"id":"evt_1","type":"job.completed","data":{"name":"Zoë 👋"}}';
const MESSAGE = { id: "evt_1", body: BODY, at: START };

describe.each([
  ["standardwebhooks", standard.Webhook],
  ["svix", svix.Webhook],
])("%s", (_name, Webhook) => {
  const secret = generateSecret(givenWorld().world);
  const verify = (body: string, headers: Record<string, string>, by = secret) =>
    new Webhook(by).verify(body, headers);

  test("accepts what we sign", () => {
    expect(() => verify(BODY, signHeaders(MESSAGE, secret))).not.toThrow();
  });

  test.each<[string, string, Record<string, string>]>([
    ["a changed body", BODY.replace("completed", "failed"), {}],
    ["a body with one blank more", `${BODY} `, {}],
    ["another id", BODY, { "webhook-id": "evt_2" }],
    ["another timestamp", BODY, { "webhook-timestamp": String(START.getTime() / 1000 + 1) }],
    ["no signature", BODY, { "webhook-signature": "v1," }],
  ])("refuses %s", (_what, body, changed) => {
    expect(() => verify(body, { ...signHeaders(MESSAGE, secret), ...changed })).toThrow(
      /signature/i,
    );
  });

  test.each([
    [-301, "too old"],
    [301, "too new"],
  ])("refuses one that was sent %i s from now", (seconds, why) => {
    const at = new Date(START.getTime() + seconds * 1_000);

    expect(() => verify(BODY, signHeaders({ ...MESSAGE, at }, secret))).toThrow(why);
  });

  test("refuses a body signed with another secret", () => {
    const other = generateSecret(givenWorld(2).world);

    expect(() => verify(BODY, signHeaders(MESSAGE, other))).toThrow("No matching signature");
  });
});

test("a secret that a customer made up is used by its own bytes", () => {
  const secret = "not base64 at all!";
  const webhook = new standard.Webhook(secret, { format: "raw" });

  expect(webhook.verify(BODY, signHeaders(MESSAGE, secret))).toEqual(JSON.parse(BODY));
});

test("without a secret there is no signature", () => {
  expect(signHeaders(MESSAGE, null)).toEqual({
    "webhook-id": "evt_1",
    "webhook-timestamp": "1795219200",
  });
});

test("a generated secret has 24 random bytes, and no two are equal", () => {
  const { world } = givenWorld();
  const secrets = Array.from({ length: 100 }, () => generateSecret(world));

  expect(new Set(secrets).size).toBe(100);
  expect(secrets.map((secret) => toSigningKey(secret).length)).toEqual(Array(100).fill(24));
});

test.each(["whsec_", "whsec_a", "whsec_not base64", "whsec_ab$d", "whsec_YWJj-_"])(
  "%s is not base64 after whsec_, so its own bytes are the key",
  (secret) => {
    expect(toSigningKey(secret).toString()).toBe(secret);
  },
);

test.each(["whsec_YWJjZA==", "whsec_YWJjZA"])("%s is, padded or not", (secret) => {
  expect(toSigningKey(secret).toString()).toBe("abcd");
});
