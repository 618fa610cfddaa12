import { readFileSync } from "node:fs";
import { summarizeExport } from "@mailproof/core/exports/exported-rows";
import { requestExport } from "@mailproof/core/exports/request-export";
import { decompressJson } from "@mailproof/core/lib/compress";
import { PLANS } from "@mailproof/core/money/plans";
import { BLOB_RETENTION_DAYS } from "@mailproof/core/ports/blobs";
import type { Item } from "@mailproof/core/ports/table";
import { iterateJobs } from "@mailproof/core/rows/items";
import { expect, test } from "vitest";
import { whenWorked } from "../app/drain-queues.ts";
import { given, START } from "../app/given.ts";
import { send, whenVerified } from "../app/send.ts";
import { ORIGIN } from "../things/control.ts";
import { ROUTE, whenCreated } from "../things/forms.ts";
import { type TestContext, whenBatched, whenProcessed } from "../things/jobs.ts";
import { createMail, whenMailArrives, whenTestCreated } from "../things/mail-tests.ts";
import {
  createDailyReport,
  createReportMail,
  readReportsAddress,
  toReceived,
} from "../things/reports.ts";

// Goal: docs/privacy.md is true of what is stored. Method: each feature is used once, for one address, and every item
// that is left is looked up in the page's table.

const LOCAL_PART = "zachary.quill";
const EMAIL = `${LOCAL_PART}@example.com`;
const DAY_SECONDS = 86_400;

/** Lives for minutes, or only counts. */
const UNLISTED = ["RATE", "PUBLICUSE", "REPORTBYTES", "SLOTS", "KEYCOUNT", "WEBHOOKCOUNT"];

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
const itemRows = rows.filter((cells) => cells.length === 5);
const fileRows = rows.filter((cells) => cells.length === 4);
const otherRows = rows.filter((cells) => cells.length === 2);

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
  const { data: mailTest } = await whenTestCreated(world, key);
  await whenMailArrives(world, mailTest.address, createMail(START, { from: EMAIL }));
  const { data: form } = await whenCreated(world, key);
  await send(world, ROUTE, {
    key: form.key,
    body: { email: EMAIL },
    headers: { origin: ORIGIN },
    clientIp: "192.0.2.1",
  });
  const report = Buffer.from(createDailyReport()).toString("base64");
  await post("deliverability/reports", { content: report });
  const mailed = createReportMail([{ content: createDailyReport({ reporter: "yahoo.com" }) }]);
  const fromPerson = { ...toReceived(mailed), mailFrom: EMAIL };
  const reportsAddress = await readReportsAddress(world, key);
  await whenMailArrives(world, reportsAddress, fromPerson);
  const broken = createReportMail([{ content: "<broken", type: "text/xml" }]);
  await whenMailArrives(world, reportsAddress, { ...toReceived(broken), mailFrom: EMAIL });
  await whenWorked(ctx);
  for await (const job of iterateJobs(world.table, ctx.account)) {
    const options = {
      format: "csv",
      filter: "all",
      selection: "verified",
      text: null,
      delimiter: null,
    } as const;
    await requestExport(world, await summarizeExport(world.table, job), options);
  }
  return ctx;
};

const listItems = ({ table }: Pick<TestContext, "table">) =>
  table.items().filter((item) => !UNLISTED.includes(getKind(item)));

const whenUsed = async () => listItems(await whenEverythingIsUsed());

const getKind = ({ pk }: Item): string => pk.split("#")[0] ?? "";

const getRowName = (item: Item): string => {
  const kind = getKind(item);
  if (kind === "CLAIM" && item.pk.includes("#find#")) return "CLAIM (search)";
  if (kind === "MAILTEST" && item.sk !== kind) return `MAILTEST (${item.sk.toLowerCase()})`;
  if (kind === "JOB" && item.sk === "SUMMARY") return "JOB (summary)";
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

test("the privacy page lists every kind of item, and no other", async () => {
  const stored = new Set((await whenUsed()).map(getRowName));

  expect(itemRows.flatMap(([name]) => listNames(name)).toSorted()).toEqual([...stored].toSorted());
});

test("each item expires and contains a plain address only as the privacy page states", async () => {
  const items = await whenUsed();
  for (const [name, , address, retained] of itemRows) {
    const own = items.filter((item) => listNames(name).includes(getRowName(item)));
    const others = own.filter((item) => !formatRetention(item).includes(retained ?? ""));
    expect([name, others]).toEqual([name, []]);
    const isPlain = own.some((item) => JSON.stringify(item).includes(LOCAL_PART));
    expect([name, isPlain]).toEqual([name, address === "plain"]);
  }
});

test("the store keeps files for the privacy page's number of days", () => {
  const days = (count: number) => (count === 1 ? "1 day" : `${count} days`);

  expect(Object.fromEntries(fileRows.map(([name, , kept]) => [listNames(name)[0], kept]))).toEqual(
    Object.fromEntries(
      Object.entries(BLOB_RETENTION_DAYS).map(([folder, count]) => [folder, days(count)]),
    ),
  );
});

test("the privacy page states each plan's retention as the catalogue does", () => {
  for (const [id, { retentionDays }] of Object.entries(PLANS))
    expect(page.replaceAll("\n", " ")).toContain(`${retentionDays} days (\`${id}\`)`);
});

/** The kinds of items and the folders that this removes. */
const listRemovedBy = (way: string): readonly string[] =>
  [...itemRows, ...fileRows]
    .filter((cells) => cells.at(-1)?.split(", ").includes(way))
    .flatMap(([name]) => listNames(name));

const listFolders = ({ blobs }: Pick<TestContext, "blobs">): readonly string[] =>
  blobs.keys().map((key) => `${key.split("/")[0]}/`);

test("deleting a job removes everything that the privacy page lists as removed", async () => {
  const ctx = await whenEverythingIsUsed();
  const removed = listRemovedBy("job");
  expect(removed).toContain("RESULTS");
  const { data } = await send(ctx.world, "GET /v1/jobs", { key: ctx.liveKey });

  for (const { job_id: id } of data.jobs)
    await send(ctx.world, `DELETE /v1/jobs/${id}`, { key: ctx.liveKey });

  const left = [...listItems(ctx).map(getRowName), ...listFolders(ctx)];
  expect(left.filter((kind) => removed.includes(kind))).toEqual([]);
});

const isShown = (item: Item): boolean => {
  const packed = [item["rows"], item["report"]].filter((one) => typeof one === "string");
  const unpacked = packed.map((one) => JSON.stringify(decompressJson(one)));
  return (JSON.stringify(item) + unpacked.join("")).includes(LOCAL_PART);
};

test("an erasure reaches every item and file with an address, as the privacy page states for each", async () => {
  const ctx = await whenEverythingIsUsed();
  const byHash = itemRows.filter(([, , address]) => address === "keyed hash");
  const shown = new Set(listItems(ctx).filter(isShown).map(getRowName));
  const removed = listRemovedBy("erase");
  expect([...shown, ...byHash.flatMap(([name]) => listNames(name))]).toHaveLength(9);
  expect(
    [...shown, ...byHash.flatMap(([name]) => listNames(name))].filter(
      (one) => !removed.includes(one),
    ),
  ).toEqual([]);

  for (const email of [EMAIL, `slow+${LOCAL_PART}@example.com`])
    await send(ctx.world, "DELETE /v1/data", { key: ctx.liveKey, query: { email } });

  const left = listItems(ctx);
  expect(left.filter(isShown).map(getRowName)).toEqual([]);
  const kinds = left.map(getRowName);
  expect(byHash.flatMap(([name]) => listNames(name)).filter((one) => kinds.includes(one))).toEqual(
    [],
  );
  const files = await Promise.all(
    ctx.blobs.keys().map(async (key) => {
      const found = await ctx.blobs.get(key);
      return Buffer.concat(await Array.fromAsync(found?.content ?? [])).toString();
    }),
  );
  expect(files.filter((text) => text.includes(LOCAL_PART))).toEqual([]);
});

test("the privacy page lists every partition key of docs/scale.md except those of indexes", () => {
  const keys = readFileSync("docs/scale.md", "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, key = "", what = ""] = /^\| `([A-Z]+)[^`]*` *\| *([^|]*)/.exec(line) ?? [];
      if (line.startsWith("- items: "))
        return [...line.matchAll(/`([A-Z]+)/g)].map(([, listed = ""]) => listed);
      return key === "" || what.startsWith("index") ? [] : [key];
    });
  const named = [...itemRows, ...otherRows].flatMap(([name]) => listNames(name));

  expect(keys.length).toBeGreaterThan(30);
  expect(keys.filter((key) => !named.includes(key))).toEqual([]);
});
