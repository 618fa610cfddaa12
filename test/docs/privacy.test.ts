import { readFileSync } from "node:fs";
import { PLANS } from "@mailproof/core/accounts/plans";
import { BLOB_RETENTION_DAYS } from "@mailproof/core/ports/blobs";
import type { Item } from "@mailproof/core/ports/table";
import { expect, test } from "vitest";
import { whenWorked } from "../drain-queues.ts";
import { given, START } from "../given.ts";
import { whenBatched, whenProcessed } from "../jobs.ts";
import { send, whenVerified } from "../send.ts";

// Goal: docs/privacy.md is true of what is stored. Method: each feature is used once, for one address, and every item
// that is left is looked up in the page's table.

const LOCAL_PART = "zachary.quill";
const EMAIL = `${LOCAL_PART}@example.com`;
const DAY_SECONDS = 86_400;

/** Lives for minutes, or only counts. */
const UNLISTED = ["RATE", "PLACES", "KEYCOUNT", "WEBHOOKCOUNT"];

const page = readFileSync("docs/privacy.md", "utf8");

/** The cells of each row whose first cell is code. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) =>
    line
      .split("|")
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
const itemRows = rows.filter((cells) => cells.length === 4);
const fileRows = rows.filter((cells) => cells.length === 3);

const listNames = (cell = ""): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, one]) => one ?? "");

const whenEverythingIsUsed = async () => {
  const ctx = await given({ balance: 100, plan: "pro" });
  const { world, liveKey: key } = ctx;
  const post = (path: string, body: object) => send(world, `POST /v1/${path}`, { key, body });
  const event = { email: EMAIL, occurred_at: START.toISOString() };
  await post("webhooks", { url: "https://hooks.example.com/in", events: ["job.completed"] });
  await send(world, "POST /v1/verify", {
    key,
    body: { email: EMAIL },
    headers: { "idempotency-key": "verify" },
  });
  await whenVerified(world, key, {
    email: `slow+${LOCAL_PART}@example.com`,
    options: { timeout_ms: 100 },
  });
  await whenBatched(world, key, { emails: [EMAIL] }, "batch");
  await whenProcessed(ctx, [EMAIL]);
  await post("find", { first_name: "Zachary", last_name: "Quill", domain: "example.com" });
  await post("activity/events", { events: [{ id: "1", type: "open", ...event }] });
  await post("deliverability/check", { domain: "example.com" });
  await whenWorked(ctx);
  return ctx.table.items().filter((item) => !UNLISTED.includes(getKind(item)));
};

const getKind = ({ pk }: Item): string => pk.split("#")[0] ?? "";

const getRowName = (item: Item): string => {
  const kind = getKind(item);
  if (kind === "CLAIM" && item.pk.includes("#POST /v1/find#")) return "CLAIM (search)";
  return kind === "JOB" && item.sk === "INPUT" ? "JOB (input)" : kind;
};

const PLAN_DAYS = PLANS.pro.retentionDays;

const formatRetention = ({ expires_at: until }: Item): readonly string[] => {
  if (until === undefined) return ["until removed"];
  const days = Math.round((until - START.getTime() / 1_000) / DAY_SECONDS);
  return [
    days === 1 ? "1 day" : `${days} days`,
    ...(days === PLAN_DAYS ? ["plan"] : []),
    ...(days === PLAN_DAYS + 1 ? ["plan and 1 day"] : []),
  ];
};

test("the page lists every kind of item, and no other", async () => {
  const stored = new Set((await whenEverythingIsUsed()).map(getRowName));

  expect(itemRows.flatMap(([name]) => listNames(name)).toSorted()).toEqual([...stored].toSorted());
});

test("each item is retained as long as the page says, and has an address in plain text only where it says so", async () => {
  const items = await whenEverythingIsUsed();
  for (const [name, , address, retained] of itemRows) {
    const own = items.filter((item) => listNames(name).includes(getRowName(item)));
    const others = own.filter((item) => !formatRetention(item).includes(retained ?? ""));
    expect([name, others]).toEqual([name, []]);
    const isPlain = own.some((item) => JSON.stringify(item).includes(LOCAL_PART));
    expect([name, isPlain]).toEqual([name, address === "plain"]);
  }
});

test("files are retained as long as the page says", () => {
  const days = (count: number) => (count === 1 ? "1 day" : `${count} days`);

  expect(Object.fromEntries(fileRows.map(([name, , kept]) => [listNames(name)[0], kept]))).toEqual(
    Object.fromEntries(
      Object.entries(BLOB_RETENTION_DAYS).map(([folder, count]) => [folder, days(count)]),
    ),
  );
});

test("the retention of each plan is that of the catalogue", () => {
  for (const [id, { retentionDays }] of Object.entries(PLANS))
    expect(page.replaceAll("\n", " ")).toContain(`${retentionDays} days (\`${id}\`)`);
});
