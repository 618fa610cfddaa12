import { readFileSync } from "node:fs";
import { EVENT_DATA, EVENT_TYPES, EventPayload } from "@mailproof/core/webhooks/payloads";
import * as v from "valibot";
import { expect, test } from "vitest";
import { down } from "../../breaking.ts";
import {
  anns,
  csvOf,
  givenChunked,
  givenUpload,
  processOf,
  whenBatched,
  whenFiled,
} from "../../jobs.ts";
import { creditsOf } from "../../ledger.ts";
import { whenVerified } from "../../send.ts";
import { eventsTold, whenSubscribed } from "../../webhooks.ts";
import { whenQuiet } from "../../working.ts";

test("whatever is told has the form that is documented, in every way in which it comes about", async () => {
  const house = await givenChunked({ balance: 20 });
  const { world, liveKey, servers } = house;
  await whenSubscribed(house);

  await whenVerified(world, liveKey, { email: "slow@x.com" });
  const broken = { ...world, engine: { ...world.engine, probe: down } };
  await whenBatched(world, liveKey, { emails: [...anns(2), "invalid@x.com"] });
  await whenBatched(world, liveKey, { emails: ["error@x.com"] });
  const fileKey = await givenUpload(house, liveKey, csvOf(["error@x.com"]));
  await whenFiled(world, liveKey, processOf(fileKey));
  const lost = await givenUpload(house, liveKey, csvOf(["bo@x.com"]));
  const refusing = {
    ...world.queue,
    sendMany: async (_: string, all: readonly unknown[]) => all.map(() => "refused" as const),
  };
  await whenFiled({ ...world, queue: refusing }, liveKey, processOf(lost));
  await whenVerified(world, liveKey, { email: "slow+2@x.com" });
  await whenQuiet({ ...house, world: broken });
  const { available } = await creditsOf(house);
  await whenBatched(world, liveKey, { emails: anns(available) });
  await whenQuiet(house);

  const told = eventsTold(servers.heard);
  expect(new Set(told.map(({ type }) => type))).toEqual(
    new Set(["job.completed", "job.failed", "credits.low", "credits.depleted"]),
  );
  for (const event of told) v.parse(EventPayload, event);
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
])("%s is told of as agreed", (type, data) => {
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

test("every event of the contract has its form", () => {
  expect(EVENT_TYPES).toEqual(Object.keys(EVENT_DATA));
  const documented = EventPayload.options.map(({ entries }) => entries.type.literal as string);
  expect(documented.toSorted()).toEqual([...EVENT_TYPES, "webhook.test"].toSorted());
});
