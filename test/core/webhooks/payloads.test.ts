import { readFileSync } from "node:fs";
import { EVENT_DATA, EventPayload, WEBHOOK_EVENT_TYPES } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { expect, test } from "vitest";
import { whenQuiet } from "../../drain-queues.ts";
import { rejectDown } from "../../faulty-worlds.ts";
import {
  createEmails,
  createProcessRequest,
  formatCsv,
  givenChunked,
  givenUpload,
  whenBatched,
  whenFiled,
} from "../../jobs.ts";
import { readCredits } from "../../ledger.ts";
import { whenVerified } from "../../send.ts";
import { parseEvents, whenSubscribed } from "../../webhooks.ts";

test("every event has its documented schema, whatever causes it", async () => {
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
])("the payload of %s has the agreed fields", (type, data) => {
  expect(v.is(EventPayload, { ...AT, type, data })).toBe(true);
  expect(v.is(EventPayload, { ...AT, type, data: { ...data, domain: undefined } })).toBe(false);
});

test("docs/webhooks.md names every event with every field of it", () => {
  const page = readFileSync("docs/webhooks.md", "utf8");

  for (const { entries } of EventPayload.options) {
    const row = page.split("\n").find((line) => line.startsWith(`| \`${entries.type.literal}\` `));
    const fields = row?.split("|").at(-2)?.match(/\w+/g);
    expect(fields, `${entries.type.literal}`).toEqual(Object.keys(entries.data.entries));
  }
});

test("every event of the contract has a schema", () => {
  expect(WEBHOOK_EVENT_TYPES).toEqual(Object.keys(EVENT_DATA));
  const documented = EventPayload.options.map(({ entries }) => entries.type.literal as string);
  expect(documented.toSorted()).toEqual([...WEBHOOK_EVENT_TYPES, "webhook.test"].toSorted());
});
