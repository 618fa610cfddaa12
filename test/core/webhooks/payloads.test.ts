import { readFileSync } from "node:fs";
import { EVENT_DATA, EventPayload, WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import { generateSecret, signHeaders, toSigningKey } from "@mailproof/core/webhooks/signature";
import * as standard from "standardwebhooks";
import * as svix from "svix";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { whenQuiet } from "../../app/drain-queues.ts";
import { rejectDown } from "../../app/faulty-worlds.ts";
import { givenWorld, START } from "../../app/given.ts";
import { readCredits } from "../../app/ledger.ts";
import { whenVerified } from "../../app/send.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  whenBatched,
  whenFiled,
} from "../../things/jobs.ts";
import { parseEvents, whenSubscribed } from "../../things/webhooks.ts";

test("every event matches its documented schema, whatever causes the event", async () => {
  const ctx = await givenChunked({ balance: 20 });
  const { world, liveKey, servers } = ctx;
  await whenSubscribed(ctx);

  await whenVerified(world, liveKey, { email: "slow@x.com" });
  const broken = { ...world, engine: { ...world.engine, probe: rejectDown } };
  await whenBatched(world, liveKey, { emails: [...createEmails(2), "invalid@x.com"] });
  await whenBatched(world, liveKey, { emails: ["error@x.com"] });
  const fileKey = await givenUpload(ctx, liveKey, formatCsv(["error@x.com"]));
  await whenFiled(world, liveKey, createProcessRequest(fileKey));
  const failingFileKey = await givenUpload(ctx, liveKey, formatCsv(["bo@x.com"]));
  const refusing = {
    ...world.queue,
    sendMany: async (_: string, all: readonly unknown[]) => all.map(() => "refused" as const),
  };
  await whenFiled({ ...world, queue: refusing }, liveKey, createProcessRequest(failingFileKey));
  await whenVerified(world, liveKey, { email: "slow+2@x.com" });
  await whenQuiet({ ...ctx, world: broken });
  const { available } = await readCredits(ctx);
  await whenBatched(world, liveKey, { emails: createEmails(available) });
  await whenQuiet(ctx);

  const events = parseEvents(servers.received);
  expect(new Set(events.map(({ type }) => type))).toEqual(
    new Set(["job.completed", "job.failed", "credits.low", "credits.depleted"]),
  );
  for (const event of events) v.parse(EventPayload, event);
});

const AT = { id: "evt_1", created_at: "2026-11-21T00:00:00.000Z" };

test.each([
  [
    "blacklist.detected",
    { domain: "a.example", sending_ip: "192.0.2.1", check_id: "chk_1", listed_on: ["zen"] },
  ],
  [
    "dmarc.failed",
    { domain: "a.example", check_id: "chk_1", status: "fail", policy: "none", issues: ["X"] },
  ],
])("the payload of %s contains the agreed fields", (type, data) => {
  expect(v.is(EventPayload, { ...AT, type, data })).toBe(true);
  expect(v.is(EventPayload, { ...AT, type, data: { ...data, domain: undefined } })).toBe(false);
});

test("docs/webhooks.md lists every event with all its fields", () => {
  const page = readFileSync("docs/webhooks.md", "utf8");

  for (const { entries } of EventPayload.options) {
    const row = page.split("\n").find((line) => line.startsWith(`| \`${entries.type.literal}\` `));
    const fields = row?.split("|").at(-2)?.match(/\w+/g);
    expect(fields, `${entries.type.literal}`).toEqual(Object.keys(entries.data.entries));
  }
});

test("every event of the contract matches a schema", () => {
  expect(WEBHOOK_EVENT_TYPES).toEqual(Object.keys(EVENT_DATA));
  const documented = EventPayload.options.map(({ entries }) => entries.type.literal as string);
  expect(documented.toSorted()).toEqual([...WEBHOOK_EVENT_TYPES, "webhook.test"].toSorted());
});

describe("the signature of a delivery", () => {
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

    test("a verifier accepts our signature", () => {
      expect(() => verify(BODY, signHeaders(MESSAGE, secret))).not.toThrow();
    });

    test.each<[string, string, Record<string, string>]>([
      ["a changed body", BODY.replace("completed", "failed"), {}],
      ["a body with one blank more", `${BODY} `, {}],
      ["another id", BODY, { "webhook-id": "evt_2" }],
      ["another timestamp", BODY, { "webhook-timestamp": String(START.getTime() / 1000 + 1) }],
      ["no signature", BODY, { "webhook-signature": "v1," }],
    ])("a verifier refuses %s", (_what, body, changed) => {
      expect(() => verify(body, { ...signHeaders(MESSAGE, secret), ...changed })).toThrow(
        /signature/i,
      );
    });

    test.each([
      [-301, "too old"],
      [301, "too new"],
    ])("a verifier refuses a delivery sent %i s from now", (seconds, why) => {
      const at = new Date(START.getTime() + seconds * 1_000);

      expect(() => verify(BODY, signHeaders({ ...MESSAGE, at }, secret))).toThrow(why);
    });

    test("a verifier refuses a body signed with another secret", () => {
      const other = generateSecret(givenWorld(2).world);

      expect(() => verify(BODY, signHeaders(MESSAGE, other))).toThrow("No matching signature");
    });
  });

  test("the signer uses a secret that a customer made up by its own bytes", () => {
    const secret = "not base64 at all!";
    const webhook = new standard.Webhook(secret, { format: "raw" });

    expect(webhook.verify(BODY, signHeaders(MESSAGE, secret))).toEqual(JSON.parse(BODY));
  });

  test("the signer adds no signature without a secret", () => {
    expect(signHeaders(MESSAGE, null)).toEqual({
      "webhook-id": "evt_1",
      "webhook-timestamp": "1795219200",
    });
  });

  test("a generated secret contains 24 random bytes, and no two are equal", () => {
    const { world } = givenWorld();
    const secrets = Array.from({ length: 100 }, () => generateSecret(world));

    expect(new Set(secrets).size).toBe(100);
    expect(secrets.map((secret) => toSigningKey(secret).length)).toEqual(Array(100).fill(24));
  });

  test.each(["whsec_", "whsec_a", "whsec_not base64", "whsec_ab$d", "whsec_YWJj-_"])(
    "the secret %s is not base64 after whsec_, so that its own bytes are the key",
    (secret) => {
      expect(toSigningKey(secret).toString()).toBe(secret);
    },
  );

  test.each(["whsec_YWJjZA==", "whsec_YWJjZA"])(
    "the secret %s is base64, padded or not",
    (secret) => {
      expect(toSigningKey(secret).toString()).toBe("abcd");
    },
  );
});
